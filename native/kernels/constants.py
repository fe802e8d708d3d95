"""Derive the constants of formulas.hpp: print each as the float32 that stands there.

Run with mpmath installed: python native/kernels/constants.py
"""

import struct

import mpmath as mp

mp.mp.prec = 200


def float32(value: mp.mpf) -> mp.mpf:
    """Round to the nearest float32."""
    return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def leading(value: mp.mpf, bits: int) -> mp.mpf:
    """Round to so many significant bits."""
    scale = mp.mpf(2) ** (bits - 1 - mp.floor(mp.log(abs(value), 2)))
    return mp.nint(value * scale) / scale


def show(name: str, value: mp.mpf) -> None:
    """Print one constant in hexadecimal, which is exact."""
    print(f"{name:12} {float(value).hex():>24}  {mp.nstr(value, 12)}")


def main() -> None:
    """Print all constants."""
    ln2 = mp.log(2)
    # Few bits in the leading part, so that its product with an integer is exact.
    ln2_high = leading(ln2, 12)
    show("log2e", float32(1 / ln2))
    show("ln2_high", ln2_high)
    show("ln2_low", float32(ln2 - ln2_high))
    # exp(-r) = 1 - r + r^2 q(r) on |r| <= ln(2) / 2: a near-minimax q by Chebyshev's nodes.
    half = ln2 / 2 + mp.mpf(2) ** -12

    def quotient(r: mp.mpf) -> mp.mpf:
        if abs(r) < mp.mpf(2) ** -40:
            return mp.mpf(1) / 2 - r / 6
        return (mp.exp(-r) - 1 + r) / r**2

    coefficients, error = mp.chebyfit(quotient, [-half, half], 5, error=True)
    for degree, coefficient in enumerate(reversed(coefficients)):
        show(f"q{degree}", float32(coefficient))
    print("largest error of r^2 q(r):", mp.nstr(error * half**2, 3))


if __name__ == "__main__":
    main()
