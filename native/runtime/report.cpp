#include "runtime/report.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "runtime/fault.hpp"

namespace openaclnn {
namespace {

struct Report {
    Callback callback;
    void* user_data;
    bool over = false;
};

// The callbacks that are due in one thread.
struct Subscriber {
    std::deque<std::shared_ptr<Report>> due;
    int streams = 0;
};

struct Reports {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, Subscriber> subscribers;
};

Reports& reports() {
    static Reports* const instance = new Reports;
    return *instance;
}

[[noreturn]] void throw_not_subscribed(const std::string& who) {
    throw RuntimeFault{RuntimeError::stream_no_callback, who + "; call aclrtSubscribeReport first"};
}

// Looked for with the lock held.
std::map<std::uint64_t, Subscriber>::iterator find_own() {
    auto& subscribers = reports().subscribers;
    const auto found = subscribers.find(static_cast<std::uint64_t>(pthread_self()));
    return found != subscribers.end()
               ? found
               : subscribers.find(static_cast<std::uint64_t>(syscall(SYS_gettid)));
}

// Gives the report to the subscriber, and waits for it if it blocks.
void deliver(const std::shared_ptr<Report>& report, std::uint64_t thread, bool blocking,
             const Stream& stream) {
    std::unique_lock lock(reports().mutex);
    const auto found = reports().subscribers.find(thread);
    if (found == reports().subscribers.end()) {
        return;  // unsubscribed meanwhile
    }
    found->second.due.push_back(report);
    reports().changed.notify_all();
    while (blocking && !report->over && !stream.aborting()) {
        // An abort does not know of this lock: look for one now and then.
        reports().changed.wait_for(lock, std::chrono::milliseconds(20));
    }
}

}  // namespace

void subscribe(std::uint64_t thread, Stream& stream) {
    const std::lock_guard lock(reports().mutex);
    if (stream.callback_thread != 0) {
        throw RuntimeFault{RuntimeError::param_invalid,
                           "the stream's callbacks are subscribed to already"};
    }
    ++reports().subscribers[thread].streams;
    stream.callback_thread = thread;
}

void unsubscribe(std::uint64_t thread, Stream& stream) {
    const std::lock_guard lock(reports().mutex);
    const auto found = reports().subscribers.find(thread);
    if (thread == 0 || stream.callback_thread != thread || found == reports().subscribers.end()) {
        throw_not_subscribed("the thread has not subscribed to the stream");
    }
    stream.callback_thread = 0;
    if (--found->second.streams == 0) {
        for (const auto& report : found->second.due) {
            report->over = true;
        }
        reports().subscribers.erase(found);
        reports().changed.notify_all();
    }
}

void launch_callback(Callback callback, void* user_data, bool blocking,
                     const std::shared_ptr<Stream>& stream) {
    const std::uint64_t thread = stream->callback_thread;
    if (thread == 0) {
        throw_not_subscribed("no thread has subscribed to the stream");
    }
    auto report = std::make_shared<Report>(Report{callback, user_data});
    // The stream outlives its work.
    stream->enqueue([report, thread, blocking, target = stream.get()] {
        deliver(report, thread, blocking, *target);
    });
}

void process_reports(const Deadline& deadline) {
    std::unique_lock lock(reports().mutex);
    if (find_own() == reports().subscribers.end()) {
        throw_not_subscribed("the calling thread has not subscribed to a stream");
    }
    const auto due = [] {
        const auto own = find_own();
        return own == reports().subscribers.end() || !own->second.due.empty();
    };
    if (!deadline.has_value()) {
        reports().changed.wait(lock, due);
    } else {
        reports().changed.wait_until(lock, *deadline, due);
    }
    bool any = false;
    for (auto own = find_own(); own != reports().subscribers.end() && !own->second.due.empty();
         own = find_own()) {
        const std::shared_ptr<Report> report = own->second.due.front();
        own->second.due.pop_front();
        lock.unlock();
        report->callback(report->user_data);
        lock.lock();
        report->over = true;
        any = true;
        reports().changed.notify_all();
    }
    if (!any) {
        throw RuntimeFault{RuntimeError::report_timeout, "no callback was due in time"};
    }
}

}  // namespace openaclnn
