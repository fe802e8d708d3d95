#include "runtime/stream.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/process.hpp"

namespace openaclnn {

class Stream::Queue {
  public:
    explicit Queue(Stream& stream) : stream_(stream) {}

    std::uint64_t push(Work work) {
        std::unique_lock lock(mutex_);
        return push_locked(std::move(work));
    }

    std::uint64_t do_or_push(Work work) {
        std::unique_lock lock(mutex_);
        if (running_ || !waiting_.empty()) {
            return push_locked(std::move(work));
        }
        const std::uint64_t number = ++pushed_;
        perform(lock, std::move(work));
        changed_.notify_all();
        return number;
    }

    std::uint64_t completed() {
        const std::lock_guard lock(mutex_);
        return completed_;
    }

    bool idle() {
        const std::lock_guard lock(mutex_);
        return completed_ == pushed_;
    }

    bool wait_for_all(const Deadline& deadline) {
        std::unique_lock lock(mutex_);
        if (called_by_own_work_locked()) {
            throw RuntimeFault{RuntimeError::param_invalid,
                               "the stream can't be waited for by its own work"};
        }
        const std::uint64_t last = pushed_;
        const auto over = [this, last] { return completed_ >= last; };
        if (!deadline.has_value()) {
            finished_.wait(lock, over);
        } else if (!finished_.wait_until(lock, *deadline, over)) {
            return false;
        }
        if (std::optional<RuntimeFault> fault = std::exchange(fault_, std::nullopt)) {
            throw *std::move(fault);
        }
        return true;
    }

    void abort() {
        {
            const std::lock_guard lock(mutex_);
            completed_ += waiting_.size();
            waiting_.clear();
            aborting_ = running_;
        }
        finished_.notify_all();
        Event::wake_waiters();
    }

    bool aborting() const { return aborting_; }

    // Waits for the thread to do what is queued, and ends it.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    bool called_by_own_work() {
        const std::lock_guard lock(mutex_);
        return called_by_own_work_locked();
    }

  private:
    bool called_by_own_work_locked() const {
        return running_ && performer_ == std::this_thread::get_id();
    }

    std::uint64_t push_locked(Work work) {
        if (!thread_.joinable()) {
            thread_ = std::thread([this] { serve(); });
        }
        waiting_.push_back(std::move(work));
        changed_.notify_all();
        return ++pushed_;
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return !running_ && (closed_ || !waiting_.empty()); });
            if (waiting_.empty()) {
                return;
            }
            Work work = std::move(waiting_.front());
            waiting_.pop_front();
            perform(lock, std::move(work));
        }
    }

    // Does one piece of work without the lock, which is held before and after.
    void perform(std::unique_lock<std::mutex>& lock, Work work) {
        const bool skipped = fault_.has_value() && stream_.stops_on_failure;
        running_ = true;
        performer_ = std::this_thread::get_id();
        lock.unlock();
        std::optional<RuntimeFault> fault;
        if (!skipped) {
            try {
                work();
            } catch (const RuntimeFault& thrown) {
                fault = thrown;
            }
        }
        work = nullptr;  // what it holds goes before it counts as over
        lock.lock();
        if (fault.has_value() && !fault_.has_value()) {
            fault_ = std::move(fault);
        }
        running_ = false;
        aborting_ = false;
        ++completed_;
        finished_.notify_all();
    }

    Stream& stream_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable finished_;
    std::deque<Work> waiting_;
    std::uint64_t pushed_ = 0;
    std::uint64_t completed_ = 0;
    std::optional<RuntimeFault> fault_;
    bool running_ = false;
    std::thread::id performer_;  // while running
    bool closed_ = false;
    std::atomic<bool> aborting_{false};
    std::thread thread_;
};

namespace {

std::int32_t next_id() {
    static std::atomic<std::int32_t> next{0};
    return next++;
}

}  // namespace

Stream::Stream()
    : generation_(process_generation()), id_(next_id()), queue_(std::make_unique<Queue>(*this)) {}

Stream::~Stream() {
    if (generation_ == process_generation()) {
        queue_->close();
    } else {
        // A forked child: the thread is not here, and its number may be another's by now; the lock
        // may be held for ever. All of it is left as it is.
        static_cast<void>(queue_.release());
    }
}

std::uint64_t Stream::enqueue(Work work) {
    return queue().push(std::move(work));
}

std::uint64_t Stream::do_or_enqueue(Work work) {
    return queue().do_or_push(std::move(work));
}

std::uint64_t Stream::completed() const {
    return queue().completed();
}

bool Stream::idle() const {
    return queue().idle();
}

bool Stream::synchronize(const Deadline& deadline) {
    return queue().wait_for_all(deadline);
}

void Stream::abort() {
    queue().abort();
}

bool Stream::aborting() const {
    return queue_->aborting();
}

bool Stream::called_by_own_work() const {
    return queue().called_by_own_work();
}

void Stream::wait_event(std::shared_ptr<Event> event) {
    const std::uint64_t record = event->record_to_wait_for();
    if (event->is_complete(record)) {
        return;
    }
    event->begin_wait();
    enqueue([this, event = std::move(event), record] {
        event->wait_for(record, std::nullopt, [this] { return aborting(); });
        event->end_wait();
    });
}

void Stream::record_event(std::shared_ptr<Event> event) {
    const std::uint64_t record = event->issue_record();
    do_or_enqueue([event = std::move(event), record] { event->complete_record(record); });
}

Stream::Queue& Stream::queue() const {
    if (generation_ != process_generation()) {
        throw RuntimeFault{RuntimeError::invalid_handle,
                           "the stream belongs to the parent process; create one after the fork"};
    }
    return *queue_;
}

}  // namespace openaclnn
