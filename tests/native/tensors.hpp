// Device memory and tensors for test programs, freed when they end.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "check.hpp"

// A contiguous float32 tensor of one dimension in device memory.
class DeviceTensor {
  public:
    DeviceTensor(std::int64_t count, float value) : count_(count) {
        const std::vector<float> host(static_cast<std::size_t>(count), value);
        CHECK(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
        CHECK(aclrtMemcpy(data_, bytes(), host.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE) ==
              ACL_SUCCESS);
        tensor_ =
            aclCreateTensor(&count_, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count_, 1, data_);
        CHECK(tensor_ != nullptr);
    }
    ~DeviceTensor() {
        CHECK(aclDestroyTensor(tensor_) == ACLNN_SUCCESS);
        CHECK(aclrtFree(data_) == ACL_SUCCESS);
    }
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;

    aclTensor* tensor() const { return tensor_; }
    void* data() const { return data_; }

    // Whether every element has this value.
    bool all(float value) const {
        std::vector<float> host(static_cast<std::size_t>(count_));
        CHECK(aclrtMemcpy(host.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST) ==
              ACL_SUCCESS);
        for (const float element : host) {
            if (element != value) {
                return false;
            }
        }
        return true;
    }

  private:
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(float); }

    std::int64_t count_;
    void* data_ = nullptr;
    aclTensor* tensor_ = nullptr;
};
