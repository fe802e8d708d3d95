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
    [[gnu::always_inline]] typename Format::Values last(std::int64_t i, std::int64_t count) const {
        return load_some<Format>(elements + i, count);
    }
};

template <class Format>
struct OneForAll {
    typename Format::Values values;

    [[gnu::always_inline]] typename Format::Values at(std::int64_t) const { return values; }
    [[gnu::always_inline]] typename Format::Values last(std::int64_t, std::int64_t) const {
        return values;
    }
};

// A formula may have a rare case of its own, see SiluBackward.
template <class Formula, class Values>
concept HasRareCase = requires(Values values) { Formula::apply_rare(values, values); };

// The results of one or several steps, whose chains of operations run side by side.
template <class Formula, int kSteps, class Values>
[[gnu::always_inline]] inline void apply(Values (&results)[kSteps], const Values (&first)[kSteps],
                                         const Values (&second)[kSteps]) {
    for (int step = 0; step < kSteps; ++step) {
        results[step] = Formula::apply(first[step], second[step]);
    }
    if constexpr (HasRareCase<Formula, Values>) {
        auto rare = Formula::is_rare(first[0], second[0]);
        for (int step = 1; step < kSteps; ++step) {
            rare |= Formula::is_rare(first[step], second[step]);
        }
        if (__builtin_expect(any(rare), 0)) {
            for (int step = 0; step < kSteps; ++step) {
                results[step] = Formula::is_rare(first[step], second[step])
                                    ? Formula::apply_rare(first[step], second[step])
                                    : results[step];
            }
        }
    }
    for (int step = 0; step < kSteps; ++step) {
        results[step] = with_one_nan(results[step]);
    }
}

template <class Formula, class Format, int kSteps, class First, class Second>
[[gnu::always_inline]] inline void run_steps(typename Format::Element* result, First first,
                                             Second second, std::int64_t i) {
    using Values = typename Format::Values;
    Values a[kSteps];
    Values b[kSteps];
    Values results[kSteps];
    for (int step = 0; step < kSteps; ++step) {
        a[step] = first.at(i + step * Format::kStep);
        b[step] = second.at(i + step * Format::kStep);
    }
    apply<Formula>(results, a, b);
    for (int step = 0; step < kSteps; ++step) {
        Format::store(result + i + step * Format::kStep, results[step]);
    }
}

template <class Formula, class Format, class First, class Second>
void run(typename Format::Element* result, First first, Second second, std::int64_t count) {
    using Values = typename Format::Values;
    constexpr int kStep = Format::kStep;
    constexpr int kSteps = 4;
    std::int64_t i = 0;
    for (; i + kSteps * kStep <= count; i += kSteps * kStep) {
        run_steps<Formula, Format, kSteps>(result, first, second, i);
    }
    for (; i + kStep <= count; i += kStep) {
        run_steps<Formula, Format, 1>(result, first, second, i);
    }
    if (i < count) {
        const std::int64_t rest = count - i;
        const Values a[1] = {first.last(i, rest)};
        const Values b[1] = {second.last(i, rest)};
        Values results[1];
        apply<Formula>(results, a, b);
        store_some<Format>(result + i, results[0], rest);
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
                                 m * n);
            copy<Element>(result.at(row, column), result.row_stride, result.column_stride, tiles[2],
                          n, 1, m, n);
        }
    }
}

// A kernel: rows of contiguous or repeated elements where they lie, all else in tiles.
template <class Formula, class Format>
void kernel(Block result_block, Block first_block, Block second_block, std::int64_t rows,
            std::int64_t columns) {
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
        return;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        Element* to = result.at(row, 0);
        const Element* a = first.at(row, 0);
        const Element* b = second.at(row, 0);
        if (first.column_stride == 0) {
            run<Formula, Format>(to, OneForAll<Format>{repeated<Format>(*a)}, InARow<Format>{b},
                                 columns);
        } else if (second.column_stride == 0) {
            run<Formula, Format>(to, InARow<Format>{a}, OneForAll<Format>{repeated<Format>(*b)},
                                 columns);
        } else {
            run<Formula, Format>(to, InARow<Format>{a}, InARow<Format>{b}, columns);
        }
    }
}

}  // namespace openaclnn::OPENACLNN_LEVEL
