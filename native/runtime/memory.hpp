// Device memory: host memory that is kept count of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace openaclnn {

enum class MemoryKind { device, host };

struct Allocation {
    char* begin;
    std::size_t size;
    MemoryKind kind;

    const char* end() const { return begin + size; }
};

// Aligned to a page's worth of cache lines. Throws RuntimeFault.
void* allocate(std::size_t size, MemoryKind kind);

// Throws RuntimeFault unless the pointer came from `allocate` with that kind and is still alive.
void release(void* pointer, MemoryKind kind);

// The live allocation that the address lies in.
std::optional<Allocation> find_allocation(const void* address);

// A freed allocation that the address lay in, if it is among the last few thousand.
std::optional<Allocation> find_freed(const void* address);

// What is alive, in the order of addresses.
std::vector<Allocation> live_allocations();

struct MemoryInfo {
    std::size_t free;
    std::size_t total;
};

// The machine's memory, less what is allocated here.
MemoryInfo memory_info();

enum class CopyKind { host_to_host, host_to_device, device_to_host, device_to_device, any };

// A rectangle of bytes to copy: `height` rows of `width` bytes, `pitch` bytes apart.
struct Copy {
    void* to;
    std::size_t to_pitch;
    const void* from;
    std::size_t from_pitch;
    std::size_t width;
    std::size_t height;
};

// Throw RuntimeFault if the copy or fill may not be done; they touch nothing.
void check_copy(const Copy& copy, CopyKind kind);
void check_fill(const void* to, std::size_t most, std::size_t count);

void do_copy(const Copy& copy);
void fill(void* to, std::int32_t byte, std::size_t count);

}  // namespace openaclnn
