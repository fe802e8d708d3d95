// Every allocation of a whole session fails once: each call must give a status, hold nothing, and
// leave its out-parameters alone. Run under AddressSanitizer, which reports what is held.
#include <atomic>
#include <cstdlib>
#include <new>

#include "aclnnop/aclnn_silu_backward.h"
#include "check.hpp"

namespace {

constexpr long kNever = -1;

// How many allocations still succeed.
std::atomic<long> allowed{kNever};

bool may_allocate() {
    if (allowed == kNever) {
        return true;
    }
    return allowed > 0 && allowed-- > 0;
}

}  // namespace

void* operator new(std::size_t size) {
    void* pointer = may_allocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
    if (pointer == nullptr) {
        throw std::bad_alloc();
    }
    return pointer;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return may_allocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
void operator delete(void* pointer) noexcept {
    std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    std::free(pointer);
}

namespace {

// One session; whether all of its calls succeeded.
bool session() {
    void* const kUntouched = reinterpret_cast<void*>(0x1234);
    bool fine = true;
    void* memory = kUntouched;
    const aclError allocated = aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    CHECK(allocated == ACL_SUCCESS ||
          (allocated == ACL_ERROR_RT_MEMORY_ALLOCATION && memory == kUntouched));
    if (allocated != ACL_SUCCESS) {
        return false;
    }
    const int64_t dims[] = {16};
    aclTensor* tensor =
        aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, memory);
    aclrtStream stream = kUntouched;
    const aclError created = aclrtCreateStream(&stream);
    CHECK(created == ACL_SUCCESS || stream == kUntouched);
    fine = tensor != nullptr && created == ACL_SUCCESS;

    uint64_t size = 77;
    aclOpExecutor* const kNoExecutor = static_cast<aclOpExecutor*>(kUntouched);
    aclOpExecutor* executor = kNoExecutor;
    if (fine) {
        const aclnnStatus planned =
            aclnnSiluBackwardGetWorkspaceSize(tensor, tensor, tensor, &size, &executor);
        fine = planned == ACLNN_SUCCESS;
        CHECK(fine || (planned == ACLNN_ERR_INNER && size == 77 && executor == kNoExecutor));
    }
    if (fine) {
        const aclnnStatus run = aclnnSiluBackward(nullptr, 0, executor, stream);
        fine = run == ACLNN_SUCCESS;
        CHECK(fine || run == ACLNN_ERR_INNER);
    }
    allowed = kNever;  // what was made is always freed
    if (executor != kNoExecutor) {
        aclDestroyAclOpExecutor(executor);  // if phase two did not use it up
    }
    if (created == ACL_SUCCESS) {
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }
    CHECK(aclDestroyTensor(tensor) == ACLNN_SUCCESS);
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    return fine;
}

}  // namespace

int main() {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    CHECK(session());  // what is made once for all is made here
    long count = 0;
    for (bool fine = false; !fine; ++count) {
        CHECK(count < 1000);
        allowed = count;
        fine = session();
        allowed = kNever;
    }
    CHECK(count > 5);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    std::printf("allocation_failure: passed, %ld allocations\n", count - 1);
}
