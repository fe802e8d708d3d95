#include "python/engine.hpp"

#include <stdexcept>
#include <utility>

#include "executor/current_product.hpp"
#include "executor/thread_pool.hpp"
#include "kernels/kernel.hpp"
#include "runtime/stream.hpp"

namespace openaclnn {
namespace {

// The extension knows standard exceptions only.
template <class Call>
auto rethrowing(const Call& call) {
    try {
        return call();
    } catch (const RuntimeFault& fault) {
        throw std::runtime_error(fault.text);
    }
}

class PlainStream final : public EngineStream {
  public:
    std::uint64_t enqueue(std::function<void()> work) override {
        return rethrowing([&] { return stream_.enqueue(std::move(work)); });
    }
    std::uint64_t completed() const override {
        return rethrowing([&] { return stream_.completed(); });
    }
    void synchronize() override {
        rethrowing([&] { return stream_.synchronize(); });
    }

  private:
    Stream stream_;
};

class LibraryEngine final : public Engine {
  public:
    std::span<const Operator> operators() const override { return all_operators(); }
    const char* instruction_set() const override { return openaclnn::instruction_set(); }

    const Product& product() const override { return current_product(); }
    void set_product(std::string_view soc_name) const override { set_current_product(soc_name); }
    int num_threads() const override { return openaclnn::num_threads(); }
    void set_num_threads(int count) const override { openaclnn::set_num_threads(count); }

    std::optional<Fault> check(const Operator& op, const Product& product,
                               const Arguments& arguments) const override {
        return openaclnn::check(op, product, arguments);
    }
    DataType result_type(const Operator& op, const Product& product, DataType first,
                         DataType second) const override {
        return openaclnn::result_type(op, product, first, second);
    }
    Plan make_plan(const Operator& op, const Product& product,
                   const Arguments& arguments) const override {
        return openaclnn::make_plan(op, product, arguments);
    }
    void execute(const Plan& plan) const override { openaclnn::execute(plan); }
    std::optional<Fault> begin_run(Executor& executor) const override {
        return executor.begin_run();
    }

    std::optional<Fault> set_repeatable(Executor& executor, bool repeatable) const override {
        return executor.set_repeatable(repeatable);
    }

    std::unique_ptr<EngineStream> make_stream() const override {
        return std::make_unique<PlainStream>();
    }
};

}  // namespace
}  // namespace openaclnn

const openaclnn::Engine* openaclnn_engine() {
    static const openaclnn::LibraryEngine engine;
    return &engine;
}
