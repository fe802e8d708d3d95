// aclnnSiluBackward on contiguous float32 tensors.
#include <cmath>

#include "aclnnop/aclnn_silu_backward.h"
#include "device.hpp"

namespace {

double silu_derivative(double x) {
    const double sigma = 1 / (1 + std::exp(-x));
    return sigma * (1 + x * (1 - sigma));
}

}  // namespace

int main() {
    const Session session;
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));

    const std::vector<std::int64_t> shape = {4, 250};
    const std::vector<std::int64_t> strides = {250, 1};
    std::vector<float> x(1000);
    std::vector<float> gradients(1000);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = 0.01f * static_cast<float>(i) - 5.0f;
        gradients[i] = i % 2 == 0 ? 1.0f : -2.0f;
    }
    double worst = 0;
    {
        const DeviceArray<float> device_gradients(gradients);
        const DeviceArray<float> device_x(x);
        const DeviceArray<float> device_result(std::vector<float>(1000));
        const Tensor grad_output(device_gradients.data(), ACL_FLOAT, shape, strides, 0, shape);
        const Tensor self(device_x.data(), ACL_FLOAT, shape, strides, 0, shape);
        const Tensor grad_input(device_result.data(), ACL_FLOAT, shape, strides, 0, shape);

        std::uint64_t workspace_size = 0;
        aclOpExecutor* executor = nullptr;
        CHECK(aclnnSiluBackwardGetWorkspaceSize(grad_output.get(), self.get(), grad_input.get(),
                                                &workspace_size, &executor));
        const Workspace workspace(workspace_size);
        CHECK(aclnnSiluBackward(workspace.data(), workspace_size, executor, stream));
        CHECK(aclrtSynchronizeStream(stream));

        const std::vector<float> result = device_result.to_host();
        for (std::size_t i = 0; i < result.size(); ++i) {
            const double expected = gradients[i] * silu_derivative(x[i]);
            worst =
                std::fmax(worst, std::fabs(result[i] - expected) / (std::fabs(expected) + 1e-7));
        }
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("silu_contiguous: 1000 elements, worst relative error %.1e\n", worst);
    return worst < 1e-5 ? 0 : 1;
}
