// The objects behind the C interface's handles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"
#include "checker/checker.hpp"
#include "core/tensor_view.hpp"
#include "executor/executor.hpp"
#include "runtime/event.hpp"
#include "runtime/stream.hpp"

namespace openaclnn::capi {

// A tensor as the client described it.
struct Tensor {
    aclDataType type = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    std::int64_t offset = 0;
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> storage_dims;
    void* data = nullptr;

    TensorView view() const {
        return {static_cast<DataType>(type), {}, dims, strides, offset, data};
    }
};

// An executor with what the checker and refreshed addresses need of its tensors. Operands are in
// the operator's order.
class ExecutorEntry {
  public:
    ExecutorEntry(const Operator& op, const Plan& plan, const std::array<TensorView, 3>& views);

    // An operand's tensor lies at another address from now on.
    void set_address(std::size_t operand, void* address);

    // Throws StatusFault if phase two can't run with this.
    void check(const void* workspace, std::uint64_t workspace_size) const;

    // What the operands reach.
    std::array<checker::Span, 3> spans() const;

    Executor executor;

  private:
    const Operator& operator_;
    std::array<char*, 3> addresses_;
    std::array<std::int64_t, 3> offsets_;  // of the first elements, in bytes
    std::array<ByteRange, 3> ranges_;      // from the addresses
};

aclTensor* insert_tensor(std::shared_ptr<Tensor> tensor);
// Null if the handle is not a live one; so for executors.
std::shared_ptr<Tensor> find_tensor(const aclTensor* handle);
std::shared_ptr<Tensor> remove_tensor(const aclTensor* handle);

aclOpExecutor* insert_executor(std::shared_ptr<ExecutorEntry> entry);
std::shared_ptr<ExecutorEntry> find_executor(const aclOpExecutor* handle);
std::shared_ptr<ExecutorEntry> remove_executor(const aclOpExecutor* handle);

// Throws the StatusFault of an executor that is not alive.
[[noreturn]] void refuse_executor(const char* function);

aclrtEvent insert_event(std::shared_ptr<Event> event);
// These throw RuntimeFault if the handle is not a live one.
std::shared_ptr<Event> find_event(const void* handle);
void remove_event(const void* handle);

// Queues work on the stream of a handle; on a default stream (null), does it at once if nothing is
// queued there.
void queue_work(aclrtStream handle, Stream& stream, Stream::Work work);

// What is alive, for the account at the end.
std::size_t live_tensor_count();
std::size_t live_event_count();
std::vector<std::pair<void*, std::shared_ptr<ExecutorEntry>>> live_executors();

}  // namespace openaclnn::capi
