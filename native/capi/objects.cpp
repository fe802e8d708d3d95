#include "capi/objects.hpp"

#include "capi/guard.hpp"
#include "runtime/device.hpp"
#include "runtime/fault.hpp"
#include "runtime/handle_table.hpp"

namespace openaclnn::capi {
namespace {

// Never destroyed: clients may hold on to handles until the process ends.
struct Tables {
    HandleTable<Tensor> tensors;
    HandleTable<ExecutorEntry> executors;
    HandleTable<Event> events;
};

Tables& tables() {
    static Tables* const instance = new Tables;
    return *instance;
}

[[noreturn]] void throw_unknown_event() {
    throw RuntimeFault{RuntimeError::invalid_handle,
                       "the event is not a live one; it may have been destroyed already"};
}

}  // namespace

ExecutorEntry::ExecutorEntry(const Operator& op, const Plan& plan,
                             const std::array<TensorView, 3>& views)
    : executor(op, plan), operator_(op) {
    for (std::size_t i = 0; i < views.size(); ++i) {
        addresses_[i] = static_cast<char*>(views[i].data);
        offsets_[i] = views[i].offset * size_of(views[i].type);
        ranges_[i] = *byte_range(views[i]);
    }
}

void ExecutorEntry::set_address(std::size_t operand, void* address) {
    addresses_[operand] = static_cast<char*>(address);
    executor.set_data(operand, addresses_[operand] + offsets_[operand]);
}

void ExecutorEntry::check(const void* workspace, std::uint64_t workspace_size) const {
    const std::uint64_t needed = executor.workspace_size();
    if (needed > 0 && workspace == nullptr) {
        refuse(Status::parameter_null, std::string(operator_.name) + ": workspace is null; " +
                                           std::to_string(needed) + " bytes are expected");
    }
    if (needed > workspace_size) {
        refuse(Status::parameter_invalid, std::string(operator_.name) + ": workspaceSize is " +
                                              std::to_string(workspace_size) + "; at least " +
                                              std::to_string(needed) + " bytes are expected");
    }
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (addresses_[i] == nullptr && executor.plan().element_count > 0) {
            refuse(Status::parameter_null,
                   std::string(operator_.name) + ": " + operator_.arguments[i] +
                       " has a null address; set one with aclSetRawTensorAddr before phase one, "
                       "or with aclSetInputTensorAddr or aclSetOutputTensorAddr after it");
        }
    }
}

std::array<checker::Span, 3> ExecutorEntry::spans() const {
    std::array<checker::Span, 3> spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        spans[i] = {operator_.arguments[i], addresses_[i] + ranges_[i].begin,
                    addresses_[i] + ranges_[i].end};
    }
    return spans;
}

aclTensor* insert_tensor(std::shared_ptr<Tensor> tensor) {
    return static_cast<aclTensor*>(tables().tensors.insert(std::move(tensor)));
}

std::shared_ptr<Tensor> find_tensor(const aclTensor* handle) {
    return tables().tensors.find(handle);
}

std::shared_ptr<Tensor> remove_tensor(const aclTensor* handle) {
    return tables().tensors.remove(handle);
}

aclOpExecutor* insert_executor(std::shared_ptr<ExecutorEntry> entry) {
    return static_cast<aclOpExecutor*>(tables().executors.insert(std::move(entry)));
}

std::shared_ptr<ExecutorEntry> find_executor(const aclOpExecutor* handle) {
    return tables().executors.find(handle);
}

std::shared_ptr<ExecutorEntry> remove_executor(const aclOpExecutor* handle) {
    return tables().executors.remove(handle);
}

void refuse_executor(const char* function) {
    refuse(Status::inner_null, std::string(function) +
                                   ": executor is not a live one; it has been run and is not "
                                   "repeatable, or has been destroyed");
}

aclrtEvent insert_event(std::shared_ptr<Event> event) {
    return tables().events.insert(std::move(event));
}

std::shared_ptr<Event> find_event(const void* handle) {
    std::shared_ptr<Event> event = tables().events.find(handle);
    if (event == nullptr) {
        throw_unknown_event();
    }
    return event;
}

void remove_event(const void* handle) {
    if (tables().events.remove(handle) == nullptr) {
        throw_unknown_event();
    }
}

void queue_work(aclrtStream handle, Stream& stream, Stream::Work work) {
    if (handle == nullptr) {
        stream.do_or_enqueue(std::move(work));
    } else {
        stream.enqueue(std::move(work));
    }
}

std::size_t live_tensor_count() {
    return tables().tensors.all().size();
}

std::size_t live_event_count() {
    return tables().events.all().size();
}

std::vector<std::pair<void*, std::shared_ptr<ExecutorEntry>>> live_executors() {
    return tables().executors.all();
}

}  // namespace openaclnn::capi
