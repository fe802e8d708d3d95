// Streams: work done in order, on a thread of their own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "core/export.hpp"

namespace openaclnn {

// Callable from any thread. Its thread does not exist in a forked child: there, every call but
// destruction throws std::logic_error.
class OPENACLNN_EXPORT Stream {
  public:
    Stream();
    // Finishes what is queued.
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Queues work, which must not throw, and returns its number, counted from 1.
    std::uint64_t enqueue(std::function<void()> work);

    // How many pieces of work are done: those up to this number.
    std::uint64_t completed() const;

    // Waits until all that was queued before the call is done.
    void synchronize();

  private:
    class Queue;

    Queue& queue() const;

    pid_t process_;
    std::unique_ptr<Queue> queue_;
    std::thread thread_;
};

}  // namespace openaclnn
