#include "executor/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "executor/open_mp.hpp"

namespace openaclnn {
namespace {

class ThreadPool {
  public:
    void run(int threads, void (*work)(void*), void* context) {
        Job job{work, context, threads - 1, 0};
        {
            const std::lock_guard lock(mutex_);
            start_workers(threads - 1);
            jobs_.push_back(&job);
        }
        for (int i = 1; i < threads; ++i) {
            wake_.notify_one();
        }
        work(context);
        std::unique_lock lock(mutex_);
        if (job.helpers_wanted > 0) {
            jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
        }
        done_.wait(lock, [&job] { return job.helpers_running == 0; });
    }

    // Ends the workers, after what they are doing; callers do without them from then on.
    void close() {
        std::vector<std::thread> workers;
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            workers.swap(workers_);
        }
        wake_.notify_all();
        for (std::thread& worker : workers) {
            worker.join();
        }
    }

  private:
    // A call that workers may join until enough have, or until its caller has finished.
    struct Job {
        void (*work)(void*);
        void* context;
        int helpers_wanted;
        int helpers_running;
    };

    void start_workers(int count) {
        while (!closed_ && static_cast<int>(workers_.size()) < count) {
            try {
                workers_.emplace_back([this] { serve(); });
            } catch (const std::system_error&) {
                return;  // no more threads to be had: callers do without
            }
        }
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
            if (closed_) {
                return;
            }
            Job& job = *jobs_.front();
            if (--job.helpers_wanted == 0) {
                jobs_.pop_front();
            }
            ++job.helpers_running;
            lock.unlock();
            job.work(job.context);
            lock.lock();
            if (--job.helpers_running == 0) {
                done_.notify_all();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::deque<Job*> jobs_;
    std::vector<std::thread> workers_;
    bool closed_ = false;
};

// Never destroyed: a call may still be going on when the process ends.
std::atomic<ThreadPool*> pool{nullptr};

// Ends the threads with the process, so that leak checkers find none of their memory.
struct AtExit {
    ~AtExit() {
        if (ThreadPool* const existing = pool.load(std::memory_order_acquire)) {
            existing->close();
        }
    }
} at_exit;

ThreadPool& the_pool() {
    ThreadPool* existing = pool.load(std::memory_order_acquire);
    if (existing != nullptr) {
        return *existing;
    }
    static std::once_flag registered;
    // A forked child has none of the threads, and perhaps a locked mutex: it starts afresh.
    std::call_once(registered, [] {
        pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_release); });
    });
    ThreadPool* created = new ThreadPool;
    if (!pool.compare_exchange_strong(existing, created)) {
        delete created;
        return *existing;
    }
    return *created;
}

int available_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return std::clamp(CPU_COUNT(&set), 1, kMostThreads);
    }
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

int initial_num_threads() {
    const char* text = std::getenv("OPENACLNN_NUM_THREADS");
    if (text == nullptr || *text == '\0') {
        return available_processors();
    }
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, count);
    if (error != std::errc{} || stop != end || count < 1 || count > kMostThreads) {
        throw std::invalid_argument("OPENACLNN_NUM_THREADS is '" + std::string(text) +
                                    "'; a number from 1 to 1024 is expected");
    }
    return count;
}

std::atomic<int> current_num_threads{0};

}  // namespace

int num_threads() {
    int count = current_num_threads.load(std::memory_order_relaxed);
    if (count == 0) {
        const int initial = initial_num_threads();
        if (current_num_threads.compare_exchange_strong(count, initial)) {
            count = initial;
        }
    }
    return count;
}

void set_num_threads(int count) {
    current_num_threads.store(count);
}

void run_on_threads(int threads, void (*work)(void*), void* context) {
    if (!run_on_open_mp(threads, work, context)) {
        the_pool().run(threads, work, context);
    }
}

}  // namespace openaclnn
