// The operators' functions.
#include <string>

#include "aclnnop/aclnn_sigmoid_backward.h"
#include "aclnnop/aclnn_silu_backward.h"
#include "capi/guard.hpp"
#include "capi/objects.hpp"
#include "checker/checker.hpp"
#include "executor/current_product.hpp"
#include "executor/operator_table.hpp"
#include "executor/phase_one.hpp"
#include "executor/plan.hpp"
#include "runtime/device.hpp"

using namespace openaclnn;
using capi::ExecutorEntry;
using capi::guarded_status;
using capi::refuse;

namespace {

const Operator& operator_named(std::string_view name) {
    for (const Operator& op : all_operators()) {
        if (op.name == name) {
            return op;
        }
    }
    throw std::logic_error("no such operator");
}

// A tensor of a call: null, or alive.
std::shared_ptr<capi::Tensor> tensor_of(const Operator& op, std::size_t index,
                                        const aclTensor* handle) {
    if (handle == nullptr) {
        return nullptr;
    }
    std::shared_ptr<capi::Tensor> tensor = capi::find_tensor(handle);
    if (tensor == nullptr) {
        refuse(Status::parameter_invalid,
               std::string(op.name) + ": " + op.arguments[index] +
                   " is not a live tensor; it may have been destroyed already");
    }
    return tensor;
}

aclnnStatus phase_one(const Operator& op, const aclTensor* first, const aclTensor* second,
                      const aclTensor* result, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return guarded_status(op.name, [&] {
        capi::require_argument(op.name, workspaceSize, "workspaceSize");
        capi::require_argument(op.name, executor, "executor");
        const std::array<std::shared_ptr<capi::Tensor>, 3> tensors = {
            tensor_of(op, 0, first), tensor_of(op, 1, second), tensor_of(op, 2, result)};
        std::array<TensorView, 3> views;
        std::array<const TensorView*, 3> pointers{};
        for (std::size_t i = 0; i < 3; ++i) {
            if (tensors[i] != nullptr) {
                views[i] = tensors[i]->view();
                pointers[i] = &views[i];
            }
        }
        const Arguments arguments = {pointers[0], pointers[1], pointers[2]};
        const Product& product = current_product();
        if (std::optional<Fault> fault = check(op, product, arguments)) {
            throw capi::StatusFault{std::move(*fault)};
        }
        auto entry = std::make_shared<ExecutorEntry>(op, make_plan(op, product, arguments), views);
        const std::uint64_t size = entry->executor.workspace_size();
        *executor = capi::insert_executor(std::move(entry));
        *workspaceSize = size;
    });
}

// What a run does. The addresses of a repeatable executor may change before it is done.
Stream::Work work_of(const std::shared_ptr<ExecutorEntry>& entry) {
    if (entry->executor.repeatable()) {
        return [plan = entry->executor.plan()] { execute(plan); };
    }
    return [entry] { execute(entry->executor.plan()); };
}

aclnnStatus phase_two(const Operator& op, const void* workspace, uint64_t workspaceSize,
                      aclOpExecutor* executor, aclrtStream stream) {
    return guarded_status(op.name, [&] {
        capi::require_argument(op.name, executor, "executor");
        const std::shared_ptr<ExecutorEntry> entry = capi::find_executor(executor);
        if (entry == nullptr) {
            capi::refuse_executor(op.name);
        }
        entry->check(workspace, workspaceSize);
        // A stream that is not alive is found out before the executor is used up.
        const std::shared_ptr<Stream> target = find_stream_for_work(stream);
        Stream::Work work = work_of(entry);
        if (!entry->executor.repeatable() && capi::remove_executor(executor) == nullptr) {
            capi::refuse_executor(op.name);  // another thread was first
        }
        entry->executor.begin_run();
        if (checker::enabled()) {
            checker::queued(op.name, entry->spans(), target->id());
        }
        capi::queue_work(stream, *target, std::move(work));
    });
}

const Operator& silu_backward() {
    static const Operator& op = operator_named("aclnnSiluBackward");
    return op;
}

const Operator& sigmoid_backward() {
    static const Operator& op = operator_named("aclnnSigmoidBackward");
    return op;
}

}  // namespace

extern "C" {

aclnnStatus aclnnSiluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                              aclTensor* gradInput, uint64_t* workspaceSize,
                                              aclOpExecutor** executor) {
    return phase_one(silu_backward(), gradOutput, self, gradInput, workspaceSize, executor);
}

aclnnStatus aclnnSiluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                              aclrtStream stream) {
    return phase_two(silu_backward(), workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnSigmoidBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                 const aclTensor* output, aclTensor* gradInput,
                                                 uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
    return phase_one(sigmoid_backward(), gradOutput, output, gradInput, workspaceSize, executor);
}

aclnnStatus aclnnSigmoidBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 const aclrtStream stream) {
    return phase_two(sigmoid_backward(), workspace, workspaceSize, executor, stream);
}

}  // extern "C"
