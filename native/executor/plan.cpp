#include "executor/plan.hpp"

#include <algorithm>
#include <atomic>

#include "executor/float_environment.hpp"
#include "executor/thread_pool.hpp"

namespace openaclnn {
namespace {

using Strides = std::array<std::int64_t, Plan::kOperands>;  // of one dimension, by operand

constexpr int kResult = 2;

struct Dimension {
    std::int64_t extent;
    Strides strides;
};

// The dimensions of more than one element, with the strides that inputs have there: 0 where they
// broadcast.
int list_dimensions(const Arguments& arguments,
                    std::array<Dimension, Plan::kMostDimensions>& dimensions) {
    const std::array<const TensorView*, Plan::kOperands> views = {arguments.first, arguments.second,
                                                                  arguments.result};
    const auto& shape = arguments.result->shape;
    int count = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) {
            continue;
        }
        Dimension& dimension = dimensions[count++];
        dimension.extent = shape[i];
        for (int operand = 0; operand < Plan::kOperands; ++operand) {
            const TensorView& view = *views[operand];
            const std::size_t missing = shape.size() - view.shape.size();
            const bool repeated = i < missing || view.shape[i - missing] == 1;
            dimension.strides[operand] = repeated ? 0 : view.strides[i - missing];
        }
    }
    return count;
}

// Joins neighbours that every operand walks through in one stride.
int collapse(std::span<Dimension> dimensions) {
    int count = 0;
    for (const Dimension& inner : dimensions) {
        bool joined = count > 0;
        for (int operand = 0; joined && operand < Plan::kOperands; ++operand) {
            joined =
                dimensions[count - 1].strides[operand] == inner.strides[operand] * inner.extent;
        }
        if (joined) {
            dimensions[count - 1].extent *= inner.extent;
            dimensions[count - 1].strides = inner.strides;
        } else {
            dimensions[count++] = inner;
        }
    }
    return count;
}

// An input that walks through memory in smaller steps along another dimension than the innermost
// is best read in tiles of those two: that dimension becomes the rows.
void choose_rows(std::span<Dimension> dimensions) {
    const Strides& columns = dimensions.back().strides;
    const auto step = [&columns](const Dimension& dimension) {
        std::int64_t least = INT64_MAX;
        for (int operand = 0; operand < Plan::kOperands; ++operand) {
            const std::int64_t stride = dimension.strides[operand];
            if (stride > 0 && stride < columns[operand]) {
                least = std::min(least, stride);
            }
        }
        return least;
    };
    const auto rows = std::min_element(
        dimensions.begin(), dimensions.end() - 1,
        [&step](const Dimension& a, const Dimension& b) { return step(a) < step(b); });
    if (step(*rows) != INT64_MAX) {
        std::rotate(rows, rows + 1, dimensions.end() - 1);
    }
}

// Work is handed out in blocks of the rows and columns of one outer index.
struct BlockGrid {
    static constexpr std::int64_t kElements = 16384;
    static constexpr std::int64_t kTransposedColumns = 128;

    explicit BlockGrid(const Plan& plan)
        : all_rows(plan.shape[plan.rank - 2]), all_columns(plan.shape[plan.rank - 1]) {
        bool transposed = false;
        for (const auto& strides : plan.strides) {
            const std::int64_t row = strides[plan.rank - 2];
            transposed = transposed || (row > 0 && row < strides[plan.rank - 1]);
        }
        columns = std::min(all_columns, transposed ? kTransposedColumns : kElements);
        rows = std::min(all_rows, std::max<std::int64_t>(1, kElements / columns));
        down = (all_rows + rows - 1) / rows;
        across = (all_columns + columns - 1) / columns;
        outer = plan.element_count / (all_rows * all_columns);
    }

    std::int64_t count() const { return outer * down * across; }

    std::int64_t all_rows;
    std::int64_t all_columns;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t down;
    std::int64_t across;
    std::int64_t outer;
};

using Blocks = std::array<Block, Plan::kOperands>;

void cast_and_run(const Plan& plan, const Blocks& blocks, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kTile = 512;
    constexpr std::int64_t kLargestElement = 16;
    alignas(64) char tiles[Plan::kOperands][kTile * kLargestElement];
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; column += kTile) {
            const std::int64_t n = std::min(kTile, columns - column);
            const auto part = [&](int operand) {
                Block block = blocks[operand];
                block.data += plan.element_sizes[operand] *
                              (row * block.row_stride + column * block.column_stride);
                return block;
            };
            const Block first = {tiles[0], n, 1};
            const Block second = {tiles[1], n, 1};
            const Block result = {tiles[kResult], n, 1};
            plan.casts[0](first, part(0), 1, n);
            plan.casts[1](second, part(1), 1, n);
            plan.kernel(result, first, second, 1, n, false);
            plan.casts[kResult](part(kResult), result, 1, n);
        }
    }
}

void run_block(const Plan& plan, const BlockGrid& grid, std::int64_t index) {
    const std::int64_t across = index % grid.across;
    const std::int64_t down = index / grid.across % grid.down;
    std::int64_t outer = index / grid.across / grid.down;
    const std::int64_t row = down * grid.rows;
    const std::int64_t column = across * grid.columns;

    std::array<std::int64_t, Plan::kOperands> offsets{};
    for (int operand = 0; operand < Plan::kOperands; ++operand) {
        const auto& strides = plan.strides[operand];
        offsets[operand] = row * strides[plan.rank - 2] + column * strides[plan.rank - 1];
    }
    for (int i = plan.rank - 3; i >= 0; --i) {
        const std::int64_t at = outer % plan.shape[i];
        outer /= plan.shape[i];
        for (int operand = 0; operand < Plan::kOperands; ++operand) {
            offsets[operand] += at * plan.strides[operand][i];
        }
    }
    Blocks blocks;
    for (int operand = 0; operand < Plan::kOperands; ++operand) {
        blocks[operand] = {plan.data[operand] + offsets[operand] * plan.element_sizes[operand],
                           plan.strides[operand][plan.rank - 2],
                           plan.strides[operand][plan.rank - 1]};
    }
    const std::int64_t rows = std::min(grid.rows, grid.all_rows - row);
    const std::int64_t columns = std::min(grid.columns, grid.all_columns - column);
    if (plan.casts_types()) {
        cast_and_run(plan, blocks, rows, columns);
    } else {
        plan.kernel(blocks[kResult], blocks[0], blocks[1], rows, columns, false);
    }
}

}  // namespace

Plan make_plan(const Operator& op, const Product& product, const Arguments& arguments) {
    const std::array<const TensorView*, Plan::kOperands> views = {arguments.first, arguments.second,
                                                                  arguments.result};
    Plan plan;
    const DataType type = result_type(op, product, arguments.first->type, arguments.second->type);
    plan.kernel = find_kernel(op.formula, type);
    plan.element_count = *element_count(arguments.result->shape);
    bool casts = false;
    for (int operand = 0; operand < Plan::kOperands; ++operand) {
        plan.data[operand] = first_element(*views[operand]);
        plan.element_sizes[operand] = size_of(views[operand]->type);
        casts = casts || views[operand]->type != type;
    }
    if (casts) {
        plan.casts = {find_cast(type, arguments.first->type),
                      find_cast(type, arguments.second->type),
                      find_cast(arguments.result->type, type)};
    }
    if (plan.element_count == 0) {
        return plan;
    }

    std::array<Dimension, Plan::kMostDimensions> dimensions;
    int rank = list_dimensions(arguments, dimensions);
    std::stable_sort(dimensions.begin(), dimensions.begin() + rank,
                     [](const Dimension& a, const Dimension& b) {
                         return a.strides[kResult] > b.strides[kResult];
                     });
    rank = collapse({dimensions.data(), static_cast<std::size_t>(rank)});
    if (rank > 2) {
        choose_rows({dimensions.data(), static_cast<std::size_t>(rank)});
    }
    // Kernels take rows and columns: outer dimensions of one element make up what is missing.
    plan.rank = std::max(rank, 2);
    const int missing = plan.rank - rank;
    for (int i = 0; i < plan.rank; ++i) {
        // Of columns that are missing, any stride will do; 1 is the quick one.
        const Dimension dimension = i < missing ? Dimension{1, {1, 1, 1}} : dimensions[i - missing];
        plan.shape[i] = dimension.extent;
        for (int operand = 0; operand < Plan::kOperands; ++operand) {
            plan.strides[operand][i] = dimension.strides[operand];
        }
    }
    return plan;
}

void execute(const Plan& plan) {
    if (plan.element_count == 0) {
        return;
    }
    // Below this many elements per thread, waking another one costs more than it saves.
    constexpr std::int64_t kElementsPerThread = 32768;
    const BlockGrid grid(plan);
    const std::int64_t blocks = grid.count();
    const std::int64_t threads =
        std::min({std::int64_t{num_threads()}, plan.element_count / kElementsPerThread, blocks});
    std::atomic<std::int64_t> next{0};
    const auto work = [&plan, &grid, &next, blocks] {
        const FloatEnvironment environment;
        for (std::int64_t i = next++; i < blocks; i = next++) {
            run_block(plan, grid, i);
        }
    };
    if (threads <= 1) {
        work();
    } else {
        run_on_threads(static_cast<int>(threads), work);
    }
}

}  // namespace openaclnn
