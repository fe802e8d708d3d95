#include "runtime/recent_error.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace openaclnn {
namespace {

struct Recent {
    std::string pending;
    std::string taken;
};

thread_local Recent recent;

const char* name_of(FaultFamily family) {
    switch (family) {
        case FaultFamily::parameter:
            return "AclNN_Parameter_Error(EZ1001)";
        case FaultFamily::runtime:
            return "AclNN_Runtime_Error(EZ9903)";
        case FaultFamily::inner:
            return "AclNN_Inner_Error(EZ9999)";
    }
    return "";
}

}  // namespace

void set_recent_error(FaultFamily family, const std::string& text) noexcept {
    timeval now{};
    gettimeofday(&now, nullptr);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    char date[32];
    std::strftime(date, sizeof(date), "%Y-%m-%d-%H:%M:%S", &local);
    char head[128];
    std::snprintf(head, sizeof(head), "[PID:%d] %s.%03d.%03d %s: ", static_cast<int>(getpid()),
                  date, static_cast<int>(now.tv_usec / 1000), static_cast<int>(now.tv_usec % 1000),
                  name_of(family));
    try {
        recent.pending = head + text;
    } catch (...) {
        // No memory for a text: the status still tells the fault.
        recent.pending.clear();
    }
}

const char* take_recent_error() noexcept {
    if (recent.pending.empty()) {
        return nullptr;
    }
    recent.taken.swap(recent.pending);
    recent.pending.clear();
    return recent.taken.c_str();
}

}  // namespace openaclnn
