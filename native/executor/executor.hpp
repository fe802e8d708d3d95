// Executors: a call that passed phase one, to be run in phase two.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/status.hpp"
#include "executor/plan.hpp"

namespace openaclnn {

// Runs once, unless made repeatable before. Of several threads that run a single-use executor at
// the same time, one does and the others get the fault.
class Executor {
  public:
    Executor(const Operator& op, const Plan& plan) : operator_(op), plan_(plan) {}

    const char* operator_name() const { return operator_.name; }

    // The operators here need none.
    std::uint64_t workspace_size() const { return 0; }

    bool repeatable() const { return repeatable_; }
    // A fault if its only run is over.
    std::optional<Fault> set_repeatable(bool repeatable);

    // Takes one run; a fault if there is none left. What it gives may be executed later, and by
    // another thread.
    std::optional<Fault> begin_run();
    bool used() const { return used_; }

    const Plan& plan() const { return plan_; }
    // Where an operand's first element lies from now on.
    void set_data(std::size_t operand, char* data) { plan_.data[operand] = data; }

  private:
    Fault used_up() const;

    const Operator& operator_;
    Plan plan_;
    std::atomic<bool> repeatable_{false};
    std::atomic<bool> used_{false};
};

}  // namespace openaclnn
