// What the extension module asks of the shared library, behind one exported function: the two are
// always of the same build, and nothing else of the library's C++ need be visible outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/product.hpp"
#include "core/status.hpp"
#include "executor/executor.hpp"
#include "executor/operator_table.hpp"
#include "executor/phase_one.hpp"
#include "executor/plan.hpp"

namespace openaclnn {

class EngineStream {
  public:
    virtual ~EngineStream() = default;
    // These throw std::runtime_error in a forked child.
    virtual std::uint64_t enqueue(std::function<void()> work) = 0;
    virtual std::uint64_t completed() const = 0;
    virtual void synchronize() = 0;
};

class Engine {
  public:
    virtual ~Engine() = default;

    virtual std::span<const Operator> operators() const = 0;
    virtual const char* instruction_set() const = 0;

    virtual const Product& product() const = 0;
    virtual void set_product(std::string_view soc_name) const = 0;
    virtual int num_threads() const = 0;
    virtual void set_num_threads(int count) const = 0;

    virtual std::optional<Fault> check(const Operator& op, const Product& product,
                                       const Arguments& arguments) const = 0;
    virtual DataType result_type(const Operator& op, const Product& product, DataType first,
                                 DataType second) const = 0;
    virtual Plan make_plan(const Operator& op, const Product& product,
                           const Arguments& arguments) const = 0;
    virtual void execute(const Plan& plan) const = 0;
    virtual std::optional<Fault> begin_run(Executor& executor) const = 0;
    virtual std::optional<Fault> set_repeatable(Executor& executor, bool repeatable) const = 0;

    virtual std::unique_ptr<EngineStream> make_stream() const = 0;
};

}  // namespace openaclnn

// Not for other clients: its class changes with every version.
extern "C" __attribute__((visibility("default"))) const openaclnn::Engine* openaclnn_engine();
