// Many threads, streams, events and executors at once. Run under the sanitizers.
#include <atomic>
#include <thread>
#include <vector>

#include "aclnnop/aclnn_sigmoid_backward.h"
#include "aclnnop/aclnn_silu_backward.h"
#include "check.hpp"
#include "tensors.hpp"

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;
constexpr std::int64_t kElements = 70'000;  // enough for two threads of the library's own

// s'(0) = 1/2, and y (1 - y) = 1/4 for y = 1/2: exact in every order of work.
void work_on_own_stream() {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    CHECK(aclrtCreateEvent(&event) == ACL_SUCCESS);
    {
        const DeviceTensor one(kElements, 1.0f);
        const DeviceTensor zero(kElements, 0.0f);
        const DeviceTensor half(kElements, 9.0f);
        const DeviceTensor quarter(kElements, 9.0f);
        for (int round = 0; round < kRounds; ++round) {
            std::uint64_t size = 0;
            aclOpExecutor* silu = nullptr;
            aclOpExecutor* sigmoid = nullptr;
            CHECK(aclnnSiluBackwardGetWorkspaceSize(one.tensor(), zero.tensor(), half.tensor(),
                                                    &size, &silu) == ACLNN_SUCCESS);
            CHECK(aclnnSigmoidBackwardGetWorkspaceSize(one.tensor(), half.tensor(),
                                                       quarter.tensor(), &size,
                                                       &sigmoid) == ACLNN_SUCCESS);
            CHECK(aclnnSiluBackward(nullptr, 0, silu, stream) == ACLNN_SUCCESS);
            CHECK(aclnnSigmoidBackward(nullptr, 0, sigmoid, stream) == ACLNN_SUCCESS);
            CHECK(aclrtRecordEvent(event, stream) == ACL_SUCCESS);
            CHECK(aclnnSiluBackward(nullptr, 0, silu, stream) == ACLNN_ERR_INNER_NULLPTR);
            CHECK(aclGetRecentErrMsg() != nullptr);
            if (round % 2 == 0) {
                CHECK(aclrtSynchronizeEvent(event) == ACL_SUCCESS);
            } else {
                CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
            }
            CHECK(quarter.all(0.25f));
        }
    }
    CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

// Short work on the default stream, which all threads share.
void work_on_default_stream() {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    {
        const DeviceTensor one(16, 1.0f);
        const DeviceTensor zero(16, 0.0f);
        const DeviceTensor half(16, 9.0f);
        for (int round = 0; round < 200; ++round) {
            std::uint64_t size = 0;
            aclOpExecutor* executor = nullptr;
            CHECK(aclnnSiluBackwardGetWorkspaceSize(one.tensor(), zero.tensor(), half.tensor(),
                                                    &size, &executor) == ACLNN_SUCCESS);
            CHECK(aclnnSiluBackward(nullptr, 0, executor, nullptr) == ACLNN_SUCCESS);
        }
        CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
        CHECK(half.all(0.5f));
    }
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

// One stream waits for another's events, while a third is aborted again and again.
void wait_across_streams() {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtStream first = nullptr;
    aclrtStream second = nullptr;
    aclrtStream aborted = nullptr;
    CHECK(aclrtCreateStream(&first) == ACL_SUCCESS);
    CHECK(aclrtCreateStream(&second) == ACL_SUCCESS);
    CHECK(aclrtCreateStream(&aborted) == ACL_SUCCESS);
    std::atomic<int> stage{0};
    for (int round = 0; round < 100; ++round) {
        aclrtEvent event = nullptr;
        aclrtEvent never = nullptr;
        CHECK(aclrtCreateEvent(&event) == ACL_SUCCESS);
        CHECK(aclrtCreateEvent(&never) == ACL_SUCCESS);
        stage = 0;
        CHECK(aclrtLaunchHostFunc(
                  first, [](void* data) { *static_cast<std::atomic<int>*>(data) = 1; }, &stage) ==
              ACL_SUCCESS);
        CHECK(aclrtRecordEvent(event, first) == ACL_SUCCESS);
        CHECK(aclrtStreamWaitEvent(second, event) == ACL_SUCCESS);
        CHECK(aclrtLaunchHostFunc(
                  second,
                  [](void* data) {
                      CHECK(*static_cast<std::atomic<int>*>(data) == 1);
                      *static_cast<std::atomic<int>*>(data) = 2;
                  },
                  &stage) == ACL_SUCCESS);
        CHECK(aclrtStreamWaitEvent(aborted, never) == ACL_SUCCESS);
        CHECK(aclrtStreamAbort(aborted) == ACL_SUCCESS);
        CHECK(aclrtSynchronizeStream(second) == ACL_SUCCESS);
        CHECK(stage == 2);
        CHECK(aclrtSynchronizeStreamWithTimeout(aborted, 10'000) == ACL_SUCCESS);
        CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
        CHECK(aclrtDestroyEvent(never) == ACL_SUCCESS);
    }
    CHECK(aclrtDestroyStream(first) == ACL_SUCCESS);
    CHECK(aclrtDestroyStreamForce(second) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(aborted) == ACL_SUCCESS);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

// Callbacks run in the thread that subscribed.
void process_callbacks() {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    std::atomic<bool> stop{false};
    std::atomic<int> count{0};
    std::thread processor([&stop] {
        while (!stop) {
            aclrtProcessReport(20);
        }
    });
    const auto id = static_cast<std::uint64_t>(processor.native_handle());
    CHECK(aclrtSubscribeReport(id, stream) == ACL_SUCCESS);
    for (int i = 0; i < 50; ++i) {
        CHECK(aclrtLaunchCallback([](void* data) { ++*static_cast<std::atomic<int>*>(data); },
                                  &count, i % 2 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK,
                                  stream) == ACL_SUCCESS);
    }
    CHECK(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(count == 50);
    CHECK(aclrtUnSubscribeReport(id, stream) == ACL_SUCCESS);
    stop = true;
    processor.join();
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

}  // namespace

int main() {
    CHECK(aclInit(nullptr) == ACL_SUCCESS);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back(work_on_own_stream);
        threads.emplace_back(work_on_default_stream);
    }
    threads.emplace_back(wait_across_streams);
    threads.emplace_back(process_callbacks);
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(aclFinalize() == ACL_SUCCESS);
    std::puts("runtime_stress: passed");
}
