#include "runtime/memory.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "runtime/fault.hpp"

namespace openaclnn {
namespace {

constexpr std::size_t kAlignment = 512;  // what devices promise
constexpr std::size_t kFreedToRemember = 4096;

struct Registry {
    std::mutex mutex;
    std::map<const char*, Allocation> live;
    std::deque<Allocation> freed;
    std::size_t allocated = 0;
};

// Never destroyed: work may still be going on when the process ends.
Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

std::size_t machine_memory() {
    static const std::size_t bytes =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    return bytes;
}

[[noreturn]] void refuse(std::string text) {
    throw RuntimeFault{RuntimeError::param_invalid, std::move(text)};
}

// The last byte's successor of a rectangle, or a fault if that overflows.
std::size_t extent(std::size_t pitch, std::size_t width, std::size_t height) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, height - 1, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes)) {
        refuse("the rectangle's size overflows");
    }
    return bytes;
}

void check_range(const char* role, const void* address, std::size_t bytes, bool device,
                 bool any_kind) {
    if (address == nullptr) {
        refuse(std::string(role) + " is null");
    }
    const std::optional<Allocation> found = find_allocation(address);
    const bool on_device = found.has_value() && found->kind == MemoryKind::device;
    if (!any_kind && on_device != device) {
        refuse(std::string(role) + (device ? " is not device memory" : " is device memory") +
               ", which contradicts the kind of the copy");
    }
    if (found.has_value() &&
        bytes > static_cast<std::size_t>(found->end() - static_cast<const char*>(address))) {
        refuse(std::string(role) + " has room for " +
               std::to_string(found->end() - static_cast<const char*>(address)) +
               " bytes in its allocation, but " + std::to_string(bytes) + " are asked for");
    }
}

}  // namespace

void* allocate(std::size_t size, MemoryKind kind) {
    if (size == 0) {
        refuse("the size is 0; a positive number of bytes is expected");
    }
    std::size_t rounded = 0;
    void* pointer = nullptr;
    if (size <= machine_memory() && !__builtin_add_overflow(size, kAlignment - 1, &rounded)) {
        pointer = std::aligned_alloc(kAlignment, rounded / kAlignment * kAlignment);
    }
    if (pointer == nullptr) {
        throw RuntimeFault{RuntimeError::memory_allocation,
                           "no memory for " + std::to_string(size) + " bytes"};
    }
    Registry& all = registry();
    const Allocation allocation = {static_cast<char*>(pointer), size, kind};
    try {
        const std::lock_guard lock(all.mutex);
        all.live.emplace(allocation.begin, allocation);
        all.allocated += size;
    } catch (...) {
        std::free(pointer);
        throw;
    }
    return pointer;
}

void release(void* pointer, MemoryKind kind) {
    if (pointer == nullptr) {
        refuse("the pointer is null");
    }
    Registry& all = registry();
    {
        const std::lock_guard lock(all.mutex);
        const auto found = all.live.find(static_cast<const char*>(pointer));
        if (found == all.live.end()) {
            refuse("the pointer was not allocated here, or has been freed already");
        }
        if (found->second.kind != kind) {
            refuse(kind == MemoryKind::device ? "the pointer is host memory; use aclrtFreeHost"
                                              : "the pointer is device memory; use aclrtFree");
        }
        all.freed.push_back(found->second);
        if (all.freed.size() > kFreedToRemember) {
            all.freed.pop_front();
        }
        all.allocated -= found->second.size;
        all.live.erase(found);
    }
    std::free(pointer);
}

std::optional<Allocation> find_allocation(const void* address) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    auto after = all.live.upper_bound(static_cast<const char*>(address));
    if (after == all.live.begin()) {
        return std::nullopt;
    }
    const Allocation& candidate = std::prev(after)->second;
    if (static_cast<const char*>(address) >= candidate.end()) {
        return std::nullopt;
    }
    return candidate;
}

std::optional<Allocation> find_freed(const void* address) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (auto allocation = all.freed.rbegin(); allocation != all.freed.rend(); ++allocation) {
        if (address >= allocation->begin && address < allocation->end()) {
            return *allocation;
        }
    }
    return std::nullopt;
}

std::vector<Allocation> live_allocations() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::vector<Allocation> result;
    for (const auto& [begin, allocation] : all.live) {
        result.push_back(allocation);
    }
    return result;
}

MemoryInfo memory_info() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const std::size_t total = machine_memory();
    return {total - std::min(total, all.allocated), total};
}

void check_copy(const Copy& copy, CopyKind kind) {
    if (copy.width > copy.to_pitch || copy.width > copy.from_pitch) {
        refuse("the width of " + std::to_string(copy.width) +
               " bytes is over the pitch or the destination's size");
    }
    if (copy.width == 0 || copy.height == 0) {
        return;
    }
    const bool any = kind == CopyKind::any;
    const bool to_device = kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
    const bool from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
    check_range("dst", copy.to, extent(copy.to_pitch, copy.width, copy.height), to_device, any);
    check_range("src", copy.from, extent(copy.from_pitch, copy.width, copy.height), from_device,
                any);
}

void check_fill(const void* to, std::size_t most, std::size_t count) {
    if (count > most) {
        refuse("count is " + std::to_string(count) + ", over maxCount, which is " +
               std::to_string(most));
    }
    if (count > 0) {
        check_range("devPtr", to, count, false, true);
    }
}

void do_copy(const Copy& copy) {
    for (std::size_t row = 0; row < copy.height && copy.width > 0; ++row) {
        std::memmove(static_cast<char*>(copy.to) + row * copy.to_pitch,
                     static_cast<const char*>(copy.from) + row * copy.from_pitch, copy.width);
    }
}

void fill(void* to, std::int32_t byte, std::size_t count) {
    if (count > 0) {
        std::memset(to, byte, count);
    }
}

}  // namespace openaclnn
