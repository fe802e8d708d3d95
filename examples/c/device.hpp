// What the C++ examples share: statuses that are checked, and device memory that is freed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#define CHECK(call)                                                 \
    do {                                                            \
        const int status = (call);                                  \
        if (status != ACL_SUCCESS) {                                \
            const char* message = aclGetRecentErrMsg();             \
            std::fprintf(stderr, "%s gave %d: %s\n", #call, status, \
                         message == nullptr ? "" : message);        \
            std::exit(1);                                           \
        }                                                           \
    } while (false)

// The interface and device 0, for as long as it lives.
class Session {
  public:
    Session() {
        CHECK(aclInit(nullptr));
        CHECK(aclrtSetDevice(0));
    }
    ~Session() {
        CHECK(aclrtResetDevice(0));
        CHECK(aclFinalize());
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

// Elements in device memory.
template <class T>
class DeviceArray {
  public:
    explicit DeviceArray(const std::vector<T>& host) : count_(host.size()) {
        CHECK(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(data_, bytes(), host.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~DeviceArray() { CHECK(aclrtFree(data_)); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    void* data() const { return data_; }

    std::vector<T> to_host() const {
        std::vector<T> host(count_);
        CHECK(aclrtMemcpy(host.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        return host;
    }

  private:
    std::size_t bytes() const { return count_ * sizeof(T); }

    std::size_t count_;
    void* data_ = nullptr;
};

// A tensor over device memory.
class Tensor {
  public:
    Tensor(void* data, aclDataType type, const std::vector<std::int64_t>& dims,
           const std::vector<std::int64_t>& strides, std::int64_t offset,
           const std::vector<std::int64_t>& storage)
        : tensor_(aclCreateTensor(dims.data(), dims.size(), type, strides.data(), offset,
                                  ACL_FORMAT_ND, storage.data(), storage.size(), data)) {
        CHECK(tensor_ == nullptr ? 1 : 0);
    }
    ~Tensor() { aclDestroyTensor(tensor_); }
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;

    aclTensor* get() const { return tensor_; }

  private:
    aclTensor* tensor_;
};

// Phase two's memory, if phase one asked for any.
class Workspace {
  public:
    explicit Workspace(std::uint64_t size) {
        if (size > 0) {
            CHECK(aclrtMalloc(&data_, size, ACL_MEM_MALLOC_HUGE_FIRST));
        }
    }
    ~Workspace() {
        if (data_ != nullptr) {
            CHECK(aclrtFree(data_));
        }
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    void* data() const { return data_; }

  private:
    void* data_ = nullptr;
};
