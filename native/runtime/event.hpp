// Events: marks in streams that others can wait for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace openaclnn {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;  // none: wait for ever

// A timeout of the C interface: milliseconds from now; a negative one waits for ever.
Deadline deadline_after(std::int32_t milliseconds);

// Records are numbered. A record is issued when it is queued on a stream, and complete when the
// stream has come to it.
class Event {
  public:
    std::uint64_t issue_record();
    void complete_record(std::uint64_t number);

    // Forgets all records that are complete.
    void clear();

    // Whether the last record that was issued is complete, and has not been cleared.
    bool recorded() const;

    // Whether any record has been issued since the last clearing.
    bool issued() const;

    // The record that a wait issued now is for: the last one, or else the next.
    std::uint64_t record_to_wait_for() const;

    bool is_complete(std::uint64_t record) const;

    // Waits for a record. False if the deadline passed or `cancelled` became true first; after the
    // latter wake_waiters() is to be called.
    bool wait_for(std::uint64_t record, const Deadline& deadline,
                  const std::function<bool()>& cancelled) const;
    static void wake_waiters();

    // Waits of streams for this event: issued and ended.
    void begin_wait();
    void end_wait();
    bool waits_ended() const;

    // When the last record was complete; nothing if it is not.
    std::optional<Clock::time_point> time() const;

  private:
    bool recorded_locked() const { return completed_ > cleared_ && completed_ >= issued_; }

    std::uint64_t issued_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t cleared_ = 0;
    std::uint64_t waits_issued_ = 0;
    std::uint64_t waits_ended_ = 0;
    Clock::time_point time_;
};

}  // namespace openaclnn
