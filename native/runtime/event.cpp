#include "runtime/event.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace openaclnn {
namespace {

// One lock for all events: they change seldom, and a wait can then be cancelled from anywhere.
struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
};

Shared& shared() {
    static Shared* const instance = new Shared;
    return *instance;
}

}  // namespace

Deadline deadline_after(std::int32_t milliseconds) {
    if (milliseconds < 0) {
        return std::nullopt;
    }
    return Clock::now() + std::chrono::milliseconds(milliseconds);
}

std::uint64_t Event::issue_record() {
    const std::lock_guard lock(shared().mutex);
    return ++issued_;
}

void Event::complete_record(std::uint64_t number) {
    {
        const std::lock_guard lock(shared().mutex);
        completed_ = std::max(completed_, number);
        time_ = Clock::now();
    }
    wake_waiters();
}

void Event::clear() {
    const std::lock_guard lock(shared().mutex);
    cleared_ = completed_;
}

bool Event::recorded() const {
    const std::lock_guard lock(shared().mutex);
    return recorded_locked();
}

bool Event::issued() const {
    const std::lock_guard lock(shared().mutex);
    return issued_ > cleared_;
}

std::uint64_t Event::record_to_wait_for() const {
    const std::lock_guard lock(shared().mutex);
    return issued_ > cleared_ ? issued_ : issued_ + 1;
}

bool Event::is_complete(std::uint64_t record) const {
    const std::lock_guard lock(shared().mutex);
    return completed_ >= record;
}

bool Event::wait_for(std::uint64_t record, const Deadline& deadline,
                     const std::function<bool()>& cancelled) const {
    std::unique_lock lock(shared().mutex);
    const auto over = [&] { return completed_ >= record || cancelled(); };
    if (!deadline.has_value()) {
        shared().changed.wait(lock, over);
    } else {
        shared().changed.wait_until(lock, *deadline, over);
    }
    return completed_ >= record;
}

void Event::wake_waiters() {
    // Taking the lock orders this after a waiter's last look.
    {
        const std::lock_guard lock(shared().mutex);
    }
    shared().changed.notify_all();
}

void Event::begin_wait() {
    const std::lock_guard lock(shared().mutex);
    ++waits_issued_;
}

void Event::end_wait() {
    const std::lock_guard lock(shared().mutex);
    ++waits_ended_;
}

bool Event::waits_ended() const {
    const std::lock_guard lock(shared().mutex);
    return waits_ended_ == waits_issued_;
}

std::optional<Clock::time_point> Event::time() const {
    const std::lock_guard lock(shared().mutex);
    return recorded_locked() ? std::optional(time_) : std::nullopt;
}

}  // namespace openaclnn
