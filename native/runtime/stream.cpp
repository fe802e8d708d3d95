#include "runtime/stream.hpp"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace openaclnn {

class Stream::Queue {
  public:
    std::uint64_t push(std::function<void()> work) {
        std::uint64_t number = 0;
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(std::move(work));
            number = ++pushed_;
        }
        changed_.notify_one();
        return number;
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_one();
    }

    std::uint64_t completed() {
        const std::lock_guard lock(mutex_);
        return completed_;
    }

    void wait_for_all() {
        std::unique_lock lock(mutex_);
        const std::uint64_t last = pushed_;
        finished_.wait(lock, [this, last] { return completed_ >= last; });
    }

    // Does the work until the queue is closed and empty.
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
            if (waiting_.empty()) {
                return;
            }
            std::function<void()> work = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            work();
            work = nullptr;  // what it holds goes before it counts as done
            lock.lock();
            ++completed_;
            finished_.notify_all();
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable finished_;
    std::deque<std::function<void()>> waiting_;
    std::uint64_t pushed_ = 0;
    std::uint64_t completed_ = 0;
    bool closed_ = false;
};

Stream::Stream()
    : process_(getpid()),
      queue_(std::make_unique<Queue>()),
      thread_([queue = queue_.get()] { queue->serve(); }) {}

Stream::~Stream() {
    if (process_ != getpid()) {
        // A forked child: the thread is not here, and its queue may be locked for ever.
        thread_.detach();
        static_cast<void>(queue_.release());
        return;
    }
    queue_->close();
    thread_.join();
}

std::uint64_t Stream::enqueue(std::function<void()> work) {
    return queue().push(std::move(work));
}

std::uint64_t Stream::completed() const {
    return queue().completed();
}

void Stream::synchronize() {
    queue().wait_for_all();
}

Stream::Queue& Stream::queue() const {
    if (process_ != getpid()) {
        throw std::logic_error(
            "the stream belongs to the parent process; create one after the fork");
    }
    return *queue_;
}

}  // namespace openaclnn
