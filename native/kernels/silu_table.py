"""Derive the table of silu_table.hpp, and write it to standard output.

Run with mpmath installed: python native/kernels/silu_table.py > native/kernels/silu_table.hpp

For z = |x| < 15, s'(-z) is a polynomial in t = z - c on each of 32 segments: the numbers z + 1
with the same exponent and the same three bits after it. The polynomials are minimax approximations
of the relative error, by Remez's exchange. Each c is chosen so that the polynomial's value there is
very near a float32 ("accurate tables": Gal and Bachelis, "An accurate elementary mathematical
library for the IEEE floating point standard", 1991). Where z is 0, c is too, so that s'(0) is
exactly 1/2; on the segment of the root, c is the float32 nearest to it.
"""

import struct

import mpmath as mp

mp.mp.prec = 130

DEGREE = 6
SEGMENTS_PER_OCTAVE = 8
OCTAVES = 4
CANDIDATES = 24  # for the place of c that lets the rounded coefficients do best


def float32(value: mp.mpf) -> mp.mpf:
    """Round to the nearest float32."""
    return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def distance_to_float32(value: mp.mpf) -> mp.mpf:
    """Give the distance to the nearest float32, in units in the last place."""
    return abs(value - float32(value)) * mp.mpf(2) ** (23 - mp.floor(mp.log(abs(value), 2)))


def derivative(z: mp.mpf) -> mp.mpf:
    """Give s'(-z)."""
    u = mp.exp(-z)
    return u * (1 - z + u) / (1 + u) ** 2


ROOT = mp.findroot(lambda z: 1 + mp.exp(-z) - z, 1.2784645)


def minimax(function, weight, low: mp.mpf, high: mp.mpf, count: int) -> list[mp.mpf]:
    """Give the coefficients, lowest first, that minimise max |weight (function - polynomial)|."""
    middle, half = (low + high) / 2, (high - low) / 2
    steps = 240
    grid = [middle - half * mp.cos(mp.pi * i / steps) for i in range(steps + 1)]
    values = [function(t) for t in grid]
    weights = [weight(t) for t in grid]
    points = [round(steps * i / count) for i in range(count + 1)]
    for _ in range(6):
        system = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for row, point in enumerate(points):
            for column in range(count):
                system[row, column] = grid[point] ** column
            system[row, count] = (-1) ** row / weights[point]
            right[row] = values[point]
        solution = mp.lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [
            w * (v - mp.polyval(coefficients[::-1], t))
            for t, v, w in zip(grid, values, weights, strict=True)
        ]
        points = extrema(errors, count + 1)
        if max(map(abs, errors)) < abs(solution[count]) * mp.mpf("1.01"):
            break
    return coefficients


def extrema(errors: list[mp.mpf], count: int) -> list[int]:
    """Give the places of the largest errors of alternating sign."""
    places = [0]
    for i, error in enumerate(errors):
        if (error > 0) == (errors[places[-1]] > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = i
        else:
            places.append(i)
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places


def shifted(coefficients: list[mp.mpf], by: mp.mpf) -> list[mp.mpf]:
    """Give the coefficients of the same polynomial in t - by."""
    result = [mp.mpf(0)] * len(coefficients)
    for power, coefficient in enumerate(coefficients):
        for lower in range(power + 1):
            result[lower] += coefficient * mp.binomial(power, lower) * by ** (power - lower)
    return result


def largest_error(row: list[mp.mpf], low: mp.mpf, high: mp.mpf) -> mp.mpf:
    """Give the largest relative error of a row's polynomial."""
    worst = mp.mpf(0)
    for i in range(41):
        z = low + (high - low) * i / 40
        exact = derivative(z)
        worst = max(worst, abs(mp.polyval(row[:0:-1], z - row[0]) / exact - 1))
    return worst


def row_through(center: mp.mpf, low: mp.mpf, high: mp.mpf) -> list[mp.mpf]:
    """Give c and the coefficients of a polynomial that at c is the float32 nearest to s'(-c)."""
    at_center = derivative(center)

    def quotient(t: mp.mpf) -> mp.mpf:
        step = t if abs(t) > mp.mpf(2) ** -30 else mp.mpf(2) ** -30
        return (derivative(center + step) - at_center) / step

    def weight(t: mp.mpf) -> mp.mpf:
        return 1 / abs(quotient(t))

    coefficients = minimax(quotient, weight, low - center, high - center, DEGREE)
    return [center, float32(at_center), *map(float32, coefficients)]


def row_elsewhere(low: mp.mpf, high: mp.mpf) -> list[mp.mpf]:
    """Give c and the coefficients of a segment without such a point."""
    middle = (low + high) / 2
    coefficients = minimax(
        lambda t: derivative(middle + t),
        lambda t: 1 / abs(derivative(middle + t)),
        low - middle,
        high - middle,
        DEGREE + 1,
    )
    rows = []
    i = 0
    while len(rows) < CANDIDATES:
        i += 1
        # The golden ratio's multiples spread over the middle three quarters.
        place = mp.frac(i * (mp.sqrt(5) - 1) / 2) * mp.mpf("0.75") + mp.mpf("0.125")
        center = float32(low + (high - low) * place)
        if distance_to_float32(mp.polyval(coefficients[::-1], center - middle)) < mp.mpf(2) ** -7:
            rows.append([center, *map(float32, shifted(coefficients, center - middle))])
    return min(rows, key=lambda row: largest_error(row, low, high))


def main() -> None:
    """Write the header."""
    rows = {}
    for octave in range(OCTAVES):
        for segment in range(SEGMENTS_PER_OCTAVE):
            low, high = (
                mp.mpf(2) ** octave * (1 + mp.mpf(segment + i) / SEGMENTS_PER_OCTAVE) - 1
                for i in (0, 1)
            )
            bits = struct.unpack("I", struct.pack("f", float(low + 1)))[0]
            fixed = [center for center in (mp.mpf(0), float32(ROOT)) if low <= center < high]
            row = row_through(fixed[0], low, high) if fixed else row_elsewhere(low, high)
            rows[(bits >> 20) % 32] = row, low, high
    worst = max(largest_error(*rows[i]) for i in rows)
    print("// s'(-z) by segments of z: c, then the coefficients of t = z - c, lowest first.")
    print("// Written by silu_table.py; the bits of z + 1 from bit 20 on give the row.")
    print(f"// Largest relative error: 2^{mp.nstr(mp.log(worst, 2), 4)}.")
    print("#pragma once\n")
    print("namespace openaclnn::OPENACLNN_LEVEL {\n")
    print(f"inline constexpr float kSiluTableEnd = {float(2**OCTAVES - 1)}f;")
    print(f"alignas(64) inline constexpr float kSiluTable[32][{DEGREE + 2}] = {{")
    for i in range(32):
        print("    {" + ", ".join(f"{literal(value)}f" for value in rows[i][0]) + "},")
    print("};\n")
    print("}  // namespace openaclnn::OPENACLNN_LEVEL")


def literal(value: mp.mpf) -> str:
    """Give a float32 in hexadecimal, which is exact, without the zeros at its end."""
    mantissa, exponent = float(value).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent


if __name__ == "__main__":
    main()
