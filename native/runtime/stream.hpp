// Streams: work done in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "runtime/event.hpp"
#include "runtime/fault.hpp"

namespace openaclnn {

// Callable from any thread. Its thread starts with the first work, and does not exist in a forked
// child: there, every call but destruction throws RuntimeFault.
class Stream {
  public:
    // A piece of work. What it throws, a RuntimeFault, is reported by the next synchronisation.
    using Work = std::function<void()>;

    Stream();
    // Finishes what is queued. Not to be called by the stream's own work.
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Unique among the streams of the process.
    std::int32_t id() const { return id_; }

    // Queues work and returns its number, counted from 1.
    std::uint64_t enqueue(Work work);

    // Does the work at once if nothing is queued or being done, and queues it otherwise. Saves
    // short work the way to another thread and back.
    std::uint64_t do_or_enqueue(Work work);

    // How many pieces of work are over.
    std::uint64_t completed() const;
    bool idle() const;

    // Waits until all that was queued before the call is over; false if the deadline passed first.
    // Throws the fault of work that failed since the last time, or one if the caller is the
    // stream's own work.
    bool synchronize(const Deadline& deadline = std::nullopt);

    // Drops what has not begun, and ends waits for events.
    void abort();

    // Later work waits until the event's record is complete.
    void wait_event(std::shared_ptr<Event> event);
    void record_event(std::shared_ptr<Event> event);

    // After a fault, later work is dropped until the next synchronisation.
    std::atomic<bool> stops_on_failure{false};
    // Kept for clients that ask for it.
    std::atomic<std::uint32_t> overflow_switch{0};
    // Which thread runs this stream's callbacks; 0: none.
    std::atomic<std::uint64_t> callback_thread{0};

    // Whether the caller is the stream's own work.
    bool called_by_own_work() const;

    // Whether abort() asks the work that is being done to end. For work that waits.
    bool aborting() const;

  private:
    class Queue;

    Queue& queue() const;

    std::uint64_t generation_;  // of the process, see process.hpp
    std::int32_t id_;
    std::unique_ptr<Queue> queue_;
};

}  // namespace openaclnn
