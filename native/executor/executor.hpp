// Executors: a call that passed phase one, to be run in phase two.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/export.hpp"
#include "core/status.hpp"
#include "executor/plan.hpp"

namespace openaclnn {

// Runs once, unless made repeatable before. Of several threads that run a single-use executor at
// the same time, one does and the others get the fault.
class OPENACLNN_EXPORT Executor {
  public:
    Executor(const Operator& op, const Plan& plan) : operator_(op), plan_(plan) {}

    // The operators here need none.
    std::uint64_t workspace_size() const { return 0; }

    bool repeatable() const { return repeatable_; }
    void set_repeatable(bool repeatable) { repeatable_ = repeatable; }

    // Takes one run; a fault if there is none left. What it gives may be executed later, and by
    // another thread.
    std::optional<Fault> begin_run();
    const Plan& plan() const { return plan_; }

  private:
    const Operator& operator_;
    Plan plan_;
    std::atomic<bool> repeatable_{false};
    std::atomic<bool> used_{false};
};

}  // namespace openaclnn
