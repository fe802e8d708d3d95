#include "executor/executor.hpp"

#include <string>

namespace openaclnn {

std::optional<Fault> Executor::begin_run() {
    if (used_.exchange(true) && !repeatable_) {
        return used_up();
    }
    return std::nullopt;
}

std::optional<Fault> Executor::set_repeatable(bool repeatable) {
    if (used_ && !repeatable_) {
        return used_up();
    }
    repeatable_ = repeatable;
    return std::nullopt;
}

Fault Executor::used_up() const {
    return {Status::inner_null, operator_.name, "executor",
            std::string(operator_.name) +
                ": executor has already been run; make it repeatable before its first run, or get "
                "a new one from phase one"};
}

}  // namespace openaclnn
