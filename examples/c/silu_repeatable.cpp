// One executor of aclnnSiluBackward, run again and again on other addresses: phase one is done
// once.
#include <cmath>
#include <memory>

#include "aclnnop/aclnn_silu_backward.h"
#include "device.hpp"

int main() {
    constexpr std::int64_t kCount = 512;
    constexpr int kRounds = 10;
    const Session session;
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    const std::vector<std::int64_t> shape = {kCount};
    const std::vector<std::int64_t> strides = {1};
    int wrong = 0;
    {
        std::vector<std::unique_ptr<DeviceArray<float>>> inputs;
        std::vector<std::unique_ptr<DeviceArray<float>>> results;
        for (int round = 0; round < kRounds; ++round) {
            inputs.push_back(std::make_unique<DeviceArray<float>>(
                std::vector<float>(kCount, static_cast<float>(round) - 5.0f)));
            results.push_back(std::make_unique<DeviceArray<float>>(std::vector<float>(kCount)));
        }
        const DeviceArray<float> ones(std::vector<float>(kCount, 1.0f));
        const Tensor grad_output(ones.data(), ACL_FLOAT, shape, strides, 0, shape);
        const Tensor self(inputs[0]->data(), ACL_FLOAT, shape, strides, 0, shape);
        const Tensor grad_input(results[0]->data(), ACL_FLOAT, shape, strides, 0, shape);

        std::uint64_t workspace_size = 0;
        aclOpExecutor* executor = nullptr;
        CHECK(aclnnSiluBackwardGetWorkspaceSize(grad_output.get(), self.get(), grad_input.get(),
                                                &workspace_size, &executor));
        CHECK(aclSetAclOpExecutorRepeatable(executor));
        const Workspace workspace(workspace_size);
        for (int round = 0; round < kRounds; ++round) {
            CHECK(aclSetInputTensorAddr(executor, 1, self.get(), inputs[round]->data()));
            CHECK(aclSetOutputTensorAddr(executor, 0, grad_input.get(), results[round]->data()));
            CHECK(aclnnSiluBackward(workspace.data(), workspace_size, executor, stream));
        }
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclDestroyAclOpExecutor(executor));

        for (int round = 0; round < kRounds; ++round) {
            const double x = round - 5.0;
            const double sigma = 1 / (1 + std::exp(-x));
            const double expected = sigma * (1 + x * (1 - sigma));
            for (const float actual : results[round]->to_host()) {
                wrong += std::fabs(actual - expected) <= 1e-6 ? 0 : 1;
            }
        }
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("silu_repeatable: %d rounds of one executor, %d elements wrong\n", kRounds, wrong);
    return wrong == 0 ? 0 : 1;
}
