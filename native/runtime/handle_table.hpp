// Handles: what the C interface gives out for objects. A handle is a number that is never used
// again, for objects of no kind, so that one that is stale or made up is found out, not followed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace openaclnn {

inline std::atomic<std::uint64_t> next_handle{0};

template <class T>
class HandleTable {
  public:
    void* insert(std::shared_ptr<T> object) {
        // Aligned like a pointer, and far from any that an allocator gives.
        const std::uint64_t number = next_handle.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t key = kFirst + number * 16;
        Shard& shard = shard_of(key);
        const std::lock_guard lock(shard.mutex);
        shard.objects.emplace(key, std::move(object));
        return reinterpret_cast<void*>(key);
    }

    // Null if the handle is not a live one.
    std::shared_ptr<T> find(const void* handle) {
        const std::uint64_t key = key_of(handle);
        Shard& shard = shard_of(key);
        const std::lock_guard lock(shard.mutex);
        const auto found = shard.objects.find(key);
        return found == shard.objects.end() ? nullptr : found->second;
    }

    // Ends the handle and gives what it stood for; null if it is not a live one.
    std::shared_ptr<T> remove(const void* handle) {
        const std::uint64_t key = key_of(handle);
        Shard& shard = shard_of(key);
        const std::lock_guard lock(shard.mutex);
        const auto found = shard.objects.find(key);
        if (found == shard.objects.end()) {
            return nullptr;
        }
        std::shared_ptr<T> object = std::move(found->second);
        shard.objects.erase(found);
        return object;
    }

    // All live handles with what they stand for, oldest first.
    std::vector<std::pair<void*, std::shared_ptr<T>>> all() {
        std::vector<std::pair<void*, std::shared_ptr<T>>> result;
        for (Shard& shard : shards_) {
            const std::lock_guard lock(shard.mutex);
            for (const auto& [key, object] : shard.objects) {
                result.emplace_back(reinterpret_cast<void*>(key), object);
            }
        }
        std::sort(result.begin(), result.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        return result;
    }

  private:
    static constexpr std::uint64_t kFirst = 0x00ac1e0000000000;

    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::shared_ptr<T>> objects;
    };

    static std::uint64_t key_of(const void* handle) {
        return reinterpret_cast<std::uint64_t>(handle);
    }

    Shard& shard_of(std::uint64_t key) { return shards_[key / 16 % shards_.size()]; }

    std::array<Shard, 16> shards_;
};

}  // namespace openaclnn
