// aclnnSigmoidBackward on bfloat16 views that are not contiguous, in two streams: the second waits
// for the first by an event, and takes its result as its gradient.
#include <cmath>
#include <cstring>

#include "aclnnop/aclnn_sigmoid_backward.h"
#include "device.hpp"

namespace {

std::uint16_t to_bfloat16(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float to_float(std::uint16_t bfloat16) {
    const std::uint32_t bits = static_cast<std::uint32_t>(bfloat16) << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

void run(const Tensor& grad_output, const Tensor& output, const Tensor& grad_input,
         aclrtStream stream) {
    std::uint64_t workspace_size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnSigmoidBackwardGetWorkspaceSize(grad_output.get(), output.get(), grad_input.get(),
                                               &workspace_size, &executor));
    const Workspace workspace(workspace_size);
    CHECK(aclnnSigmoidBackward(workspace.data(), workspace_size, executor, stream));
    if (workspace_size > 0) {
        CHECK(aclrtSynchronizeStream(stream));  // before the workspace goes
    }
}

}  // namespace

int main() {
    constexpr std::int64_t kRows = 64;
    constexpr std::int64_t kColumns = 48;
    const Session session;
    aclrtStream first = nullptr;
    aclrtStream second = nullptr;
    aclrtEvent start = nullptr;
    aclrtEvent between = nullptr;
    aclrtEvent end = nullptr;
    CHECK(aclrtCreateStream(&first));
    CHECK(aclrtCreateStream(&second));
    CHECK(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventWithFlag(&between, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));

    // y lies transposed, the gradients are every second column of a wider matrix.
    std::vector<std::uint16_t> y(kRows * kColumns);
    std::vector<std::uint16_t> gradients(kRows * kColumns * 2);
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = to_bfloat16(static_cast<float>(i % 97) / 97.0f);
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        gradients[i] = to_bfloat16(static_cast<float>(i % 13) - 6.0f);
    }
    const std::vector<std::int64_t> shape = {kRows, kColumns};
    const std::vector<std::int64_t> dense = {kColumns, 1};
    int wrong = 0;
    float milliseconds = 0;
    {
        const DeviceArray<std::uint16_t> device_gradients(gradients);
        const DeviceArray<std::uint16_t> device_y(y);
        const DeviceArray<std::uint16_t> device_once(std::vector<std::uint16_t>(y.size()));
        const DeviceArray<std::uint16_t> device_twice(std::vector<std::uint16_t>(y.size()));
        const Tensor grad_output(device_gradients.data(), ACL_BF16, shape, {2 * kColumns, 2}, 0,
                                 {kRows, 2 * kColumns});
        const Tensor output(device_y.data(), ACL_BF16, shape, {1, kRows}, 0, {kColumns, kRows});
        const Tensor once(device_once.data(), ACL_BF16, shape, dense, 0, shape);
        const Tensor twice(device_twice.data(), ACL_BF16, shape, dense, 0, shape);

        CHECK(aclrtRecordEvent(start, first));
        run(grad_output, output, once, first);
        CHECK(aclrtRecordEvent(between, first));
        CHECK(aclrtStreamWaitEvent(second, between));
        run(once, output, twice, second);
        CHECK(aclrtRecordEvent(end, second));
        CHECK(aclrtSynchronizeStream(first));
        CHECK(aclrtSynchronizeEvent(end));
        CHECK(aclrtSynchronizeStream(second));
        CHECK(aclrtEventElapsedTime(&milliseconds, start, end));

        const std::vector<std::uint16_t> result = device_twice.to_host();
        for (std::int64_t row = 0; row < kRows; ++row) {
            for (std::int64_t column = 0; column < kColumns; ++column) {
                const double value = to_float(y[column * kRows + row]);
                const double factor = value * (1 - value);
                const double expected =
                    to_float(gradients[row * 2 * kColumns + 2 * column]) * factor * factor;
                const double actual = to_float(result[row * kColumns + column]);
                // Two roundings to 8 bits.
                wrong += std::fabs(actual - expected) <= std::fabs(expected) / 100 ? 0 : 1;
            }
        }
    }
    CHECK(aclrtDestroyEvent(start));
    CHECK(aclrtDestroyEvent(between));
    CHECK(aclrtDestroyEvent(end));
    CHECK(aclrtDestroyStream(first));
    CHECK(aclrtDestroyStream(second));
    std::printf("sigmoid_strided: %d of %d elements wrong, %.3f ms\n", wrong,
                static_cast<int>(kRows * kColumns), milliseconds);
    return wrong == 0 && milliseconds >= 0 ? 0 : 1;
}
