#include "executor/executor.hpp"

#include <string>

namespace openaclnn {

std::optional<Fault> Executor::begin_run() {
    if (used_.exchange(true) && !repeatable_) {
        return Fault{Status::inner_null, operator_.name, "executor",
                     std::string(operator_.name) +
                         ": executor has already been run; make it repeatable before its first "
                         "run, or get a new one from phase one"};
    }
    return std::nullopt;
}

}  // namespace openaclnn
