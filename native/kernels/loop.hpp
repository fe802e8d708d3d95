// One loop for all formulas and formats. Included by level.cpp alone.
#pragma once

#include "kernels/format.hpp"
#include "kernels/kernel.hpp"

namespace openaclnn::OPENACLNN_LEVEL {

// An input of a contiguous run: elements in a row, or one element for all.
template <class Format>
struct InARow {
    const typename Format::Element* elements;

    [[gnu::always_inline]] typename Format::Values at(std::int64_t i) const {
        return Format::load(elements + i);
    }
    [[gnu::always_inline]] typename Format::Values some(std::int64_t i, std::int64_t count) const {
        return load_some<Format>(elements + i, count);
    }
};

template <class Format>
struct OneForAll {
    typename Format::Values values;

    [[gnu::always_inline]] typename Format::Values at(std::int64_t) const { return values; }
    [[gnu::always_inline]] typename Format::Values some(std::int64_t, std::int64_t) const {
        return values;
    }
};

// A formula may have rare cases, see formulas.hpp.
template <class Formula, class Values>
concept HasRareCase =
    requires(Values values) { magnitude_bits(Formula::exposed(values, values, values)); };

// The results of one or several steps, whose chains of operations run side by side.
template <class Formula, int kSteps, class Values>
[[gnu::always_inline]] inline void apply(const Formula& formula, Values (&results)[kSteps],
                                         const Values (&first)[kSteps],
                                         const Values (&second)[kSteps]) {
    for (int step = 0; step < kSteps; ++step) {
        results[step] = formula.apply(first[step], second[step]);
    }
    if constexpr (HasRareCase<Formula, Values>) {
        using Lane = decltype(results[0][0] + 0);
        const auto limit = magnitude_bits(Values{} + Lane{Formula::kRareFrom});
        const auto bits = [&](int step) {
            return magnitude_bits(Formula::exposed(first[step], second[step], results[step]));
        };
        auto largest = bits(0);
        for (int step = 1; step < kSteps; ++step) {
            largest = bits(step) > largest ? bits(step) : largest;
        }
        if (__builtin_expect(any(largest >= limit), 0)) {
            for (int step = 0; step < kSteps; ++step) {
                results[step] = bits(step) >= limit ? Formula::apply_rare(first[step], second[step])
                                                    : results[step];
            }
        }
    }
}

// A pair is two vectors of their own.
template <class Formula, int kSteps>
[[gnu::always_inline]] inline void apply(const Formula& formula, Pair (&results)[kSteps],
                                         const Pair (&first)[kSteps],
                                         const Pair (&second)[kSteps]) {
    F32 a[2 * kSteps];
    F32 b[2 * kSteps];
    F32 c[2 * kSteps];
    for (int step = 0; step < kSteps; ++step) {
        a[2 * step] = first[step].first;
        a[2 * step + 1] = first[step].second;
        b[2 * step] = second[step].first;
        b[2 * step + 1] = second[step].second;
    }
    apply(formula, c, a, b);
    for (int step = 0; step < kSteps; ++step) {
        results[step] = {c[2 * step], c[2 * step + 1]};
    }
}

template <class Format, int kSteps, class Formula, class First, class Second, class Store>
[[gnu::always_inline]] inline void run_steps(const Formula& formula,
                                             typename Format::Element* result, First first,
                                             Second second, std::int64_t i, Store store) {
    using Values = typename Format::Values;
    Values a[kSteps];
    Values b[kSteps];
    Values results[kSteps];
    for (int step = 0; step < kSteps; ++step) {
        a[step] = first.at(i + step * Format::kStep);
        b[step] = second.at(i + step * Format::kStep);
    }
    apply(formula, results, a, b);
    for (int step = 0; step < kSteps; ++step) {
        Format::store(result + i + step * Format::kStep, results[step], store);
    }
}

// Fewer elements than a step.
template <class Format, class Formula, class First, class Second>
[[gnu::always_inline]] inline void run_some(const Formula& formula,
                                            typename Format::Element* result, First first,
                                            Second second, std::int64_t i, std::int64_t count) {
    using Values = typename Format::Values;
    const Values a[1] = {first.some(i, count)};
    const Values b[1] = {second.some(i, count)};
    Values results[1];
    apply(formula, results, a, b);
    store_some<Format>(result + i, results[0], count);
}

// How many elements there are before one lies at a multiple of the vector's size, if one does.
template <class Element>
std::int64_t elements_to_alignment(const Element* address) {
    const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(address) % kVectorBytes;
    return (kVectorBytes - beyond) % kVectorBytes / sizeof(Element);
}

template <class Element>
bool can_align(const Element* address) {
    return reinterpret_cast<std::uintptr_t>(address) % sizeof(Element) == 0;
}

// So many that a loop's turn takes four vectors of each input.
template <class Values>
inline constexpr int kStepsAtOnce = 4 * kVectorBytes / static_cast<int>(sizeof(Values));

template <class Formula, class Format, class First, class Second, class Store>
void run(typename Format::Element* result, First first, Second second, std::int64_t count,
         Store store) {
    constexpr std::int64_t kStep = Format::kStep;
    constexpr int kSteps = kStepsAtOnce<typename Format::Values>;
    const Formula formula;
    std::int64_t i = 0;
    if (count >= 2 * kSteps * kStep) {
        i = elements_to_alignment(result);
        if (i > 0) {
            run_some<Format>(formula, result, first, second, 0, i);
        }
    }
    for (; i + kSteps * kStep <= count; i += kSteps * kStep) {
        run_steps<Format, kSteps>(formula, result, first, second, i, store);
    }
    for (; i + kStep <= count; i += kStep) {
        run_steps<Format, 1>(formula, result, first, second, i, Cached{});
    }
    if (i < count) {
        run_some<Format>(formula, result, first, second, i, count - i);
    }
}

// Elements of a block, addressed by row and column.
template <class Element>
struct Grid {
    Element* data;
    std::int64_t row_stride;
    std::int64_t column_stride;

    explicit Grid(Block block)
        : data(reinterpret_cast<Element*>(block.data)),
          row_stride(block.row_stride),
          column_stride(block.column_stride) {}

    Element* at(std::int64_t row, std::int64_t column) const {
        return data + row * row_stride + column * column_stride;
    }
};

// Not std::min and std::max: this file shares no inline function with others, see level.cpp.
constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
}
constexpr std::int64_t greater(std::int64_t a, std::int64_t b) {
    return a < b ? b : a;
}

// Tiles of this many elements fit the first-level cache three times over.
inline constexpr std::int64_t kTileRows = 64;
inline constexpr std::int64_t kTileBytesPerRow = 128;

// Copies rows x columns elements.
template <class Element>
void copy(Element* to, std::int64_t to_row, std::int64_t to_column, const Element* from,
          std::int64_t from_row, std::int64_t from_column, std::int64_t rows,
          std::int64_t columns) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            to[row * to_row + column * to_column] = from[row * from_row + column * from_column];
        }
    }
}

// Any strides: tile by tile through dense copies, so that every element goes through the same
// vector code as in a contiguous run.
template <class Formula, class Format>
void tiled(Grid<typename Format::Element> result, Grid<typename Format::Element> first,
           Grid<typename Format::Element> second, std::int64_t rows, std::int64_t columns) {
    using Element = typename Format::Element;
    constexpr std::int64_t kTileColumns =
        greater(kTileBytesPerRow / std::int64_t{sizeof(Element)}, 8);
    constexpr std::int64_t kTileSize = kTileRows * kTileColumns;
    alignas(64) Element tiles[3][kTileSize];
    // Few columns leave room for more rows, and the other way round.
    const std::int64_t width = lesser(columns, greater(kTileColumns, kTileSize / rows));
    const std::int64_t height = kTileSize / width;
    for (std::int64_t row = 0; row < rows; row += height) {
        const std::int64_t m = lesser(height, rows - row);
        for (std::int64_t column = 0; column < columns; column += width) {
            const std::int64_t n = lesser(width, columns - column);
            copy<Element>(tiles[0], n, 1, first.at(row, column), first.row_stride,
                          first.column_stride, m, n);
            copy<Element>(tiles[1], n, 1, second.at(row, column), second.row_stride,
                          second.column_stride, m, n);
            run<Formula, Format>(tiles[2], InARow<Format>{tiles[0]}, InARow<Format>{tiles[1]},
                                 m * n, Cached{});
            copy<Element>(result.at(row, column), result.row_stride, result.column_stride, tiles[2],
                          n, 1, m, n);
        }
    }
}

// Rows of contiguous or repeated elements, where they lie.
template <class Formula, class Format, class Store>
void by_rows(Grid<typename Format::Element> result, Grid<typename Format::Element> first,
             Grid<typename Format::Element> second, std::int64_t rows, std::int64_t columns,
             Store store) {
    using Element = typename Format::Element;
    for (std::int64_t row = 0; row < rows; ++row) {
        Element* to = result.at(row, 0);
        const InARow<Format> a = {first.at(row, 0)};
        const InARow<Format> b = {second.at(row, 0)};
        if (first.column_stride == 0) {
            const OneForAll<Format> repeated_a = {repeated<Format>(*a.elements)};
            run<Formula, Format>(to, repeated_a, b, columns, store);
        } else if (second.column_stride == 0) {
            const OneForAll<Format> repeated_b = {repeated<Format>(*b.elements)};
            run<Formula, Format>(to, a, repeated_b, columns, store);
        } else {
            run<Formula, Format>(to, a, b, columns, store);
        }
    }
}

// A kernel: rows where they lie if their elements are neighbours, all else in tiles.
template <class Formula, class Format>
void kernel(Block result_block, Block first_block, Block second_block, std::int64_t rows,
            std::int64_t columns, bool stream) {
    using Element = typename Format::Element;
    constexpr std::int64_t kShortRow = 4 * Format::kStep;
    const Grid<Element> result(result_block);
    const Grid<Element> first(first_block);
    const Grid<Element> second(second_block);
    const bool direct = result.column_stride == 1 && first.column_stride <= 1 &&
                        second.column_stride <= 1 &&
                        first.column_stride + second.column_stride >= 1;
    if (!direct || (rows > 1 && columns < kShortRow)) {
        tiled<Formula, Format>(result, first, second, rows, columns);
    } else if (stream && can_align(result.data)) {
        by_rows<Formula, Format>(result, first, second, rows, columns, Streamed{});
        end_streaming();
    } else {
        by_rows<Formula, Format>(result, first, second, rows, columns, Cached{});
    }
}

}  // namespace openaclnn::OPENACLNN_LEVEL
