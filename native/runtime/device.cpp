#include "runtime/device.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "runtime/fault.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/process.hpp"

namespace openaclnn {
namespace {

struct Context {
    explicit Context(std::int32_t on_device) : device(on_device) {}

    // A forked child gets one of its own: the parent's is the parent's.
    std::shared_ptr<Stream> default_stream() {
        const std::lock_guard lock(mutex_);
        if (generation_ != process_generation()) {
            generation_ = process_generation();
            default_stream_ = std::make_shared<Stream>();
        }
        return default_stream_;
    }

    const std::int32_t device;
    std::atomic<void*> handle{nullptr};
    std::atomic<bool> alive{true};

  private:
    std::mutex mutex_;
    std::uint64_t generation_ = process_generation();
    std::shared_ptr<Stream> default_stream_ = std::make_shared<Stream>();
};

// A stream that a client created, and the context that it was created on.
struct CreatedStream {
    std::shared_ptr<Context> context;
    std::shared_ptr<Stream> stream;
};

struct Device {
    std::shared_ptr<Context> default_context;
    int times_set = 0;
};

// Never destroyed: streams may still be working when the process ends.
struct Devices {
    std::mutex mutex;
    std::vector<Device> devices = std::vector<Device>(device_count());
    HandleTable<Context> contexts;
    HandleTable<CreatedStream> streams;
};

Devices& all() {
    static Devices* const instance = new Devices;
    return *instance;
}

thread_local std::shared_ptr<Context> current;

[[noreturn]] void throw_fault(RuntimeError error, std::string text) {
    throw RuntimeFault{error, std::move(text)};
}

[[noreturn]] void throw_not_live(const char* what) {
    throw_fault(
        RuntimeError::invalid_handle,
        std::string("the ") + what + " is not a live one; it may have been destroyed already");
}

void check_device(std::int32_t device) {
    if (device < 0 || device >= device_count()) {
        throw_fault(RuntimeError::invalid_device,
                    "there is no device " + std::to_string(device) + "; there are " +
                        std::to_string(device_count()) + ", counted from 0");
    }
}

std::shared_ptr<Context> make_context(std::int32_t device) {
    auto context = std::make_shared<Context>(device);
    context->handle = all().contexts.insert(context);
    return context;
}

std::shared_ptr<Context> current_or_throw() {
    if (current == nullptr || !current->alive) {
        throw_fault(RuntimeError::context_null,
                    "the calling thread has no context; call aclrtSetDevice or "
                    "aclrtSetCurrentContext first");
    }
    return current;
}

std::vector<std::shared_ptr<Stream>> streams_of(const std::shared_ptr<Context>& context) {
    std::vector<std::shared_ptr<Stream>> streams = {context->default_stream()};
    for (const auto& [handle, created] : all().streams.all()) {
        if (created->context == context) {
            streams.push_back(created->stream);
        }
    }
    return streams;
}

void end_context(const std::shared_ptr<Context>& context) {
    all().contexts.remove(context->handle);
    context->alive = false;
}

// Takes the device's default context away from it.
std::shared_ptr<Context> detach_default_context(std::int32_t device) {
    Device& entry = all().devices[device];
    entry.times_set = 0;
    return std::exchange(entry.default_context, nullptr);
}

void finish(const std::shared_ptr<Context>& context) {
    for (const auto& stream : streams_of(context)) {
        stream->synchronize();
    }
    end_context(context);
}

std::shared_ptr<Context> default_context(std::int32_t device) {
    Device& entry = all().devices[device];
    if (entry.default_context == nullptr) {
        entry.default_context = make_context(device);
    }
    return entry.default_context;
}

std::shared_ptr<CreatedStream> take_stream(void* handle) {
    if (handle == nullptr) {
        throw_fault(RuntimeError::param_invalid,
                    "the stream is null; a default stream can't be destroyed");
    }
    const std::shared_ptr<CreatedStream> created = all().streams.find(handle);
    if (created != nullptr && created->stream->called_by_own_work()) {
        throw_fault(RuntimeError::param_invalid, "the stream can't be destroyed by its own work");
    }
    if (created == nullptr || all().streams.remove(handle) == nullptr) {
        throw_not_live("stream");
    }
    return created;
}

}  // namespace

int device_count() {
    static const int count = [] {
        const char* text = std::getenv("OPENACLNN_DEVICES");
        int number = 1;
        if (text != nullptr) {
            std::from_chars(text, text + std::strlen(text), number);
        }
        return std::clamp(number, 1, 1024);
    }();
    return count;
}

void set_device(std::int32_t device) {
    check_device(device);
    const std::lock_guard lock(all().mutex);
    current = default_context(device);
    ++all().devices[device].times_set;
}

void reset_device(std::int32_t device) {
    check_device(device);
    std::shared_ptr<Context> last;
    {
        const std::lock_guard lock(all().mutex);
        Device& entry = all().devices[device];
        if (entry.times_set == 0) {
            throw_fault(RuntimeError::context_null,
                        "device " + std::to_string(device) + " is not set");
        }
        if (--entry.times_set > 0) {
            return;
        }
        last = detach_default_context(device);
    }
    finish(last);
}

void reset_device_by_force(std::int32_t device) {
    check_device(device);
    std::shared_ptr<Context> context;
    {
        const std::lock_guard lock(all().mutex);
        context = detach_default_context(device);
    }
    if (context != nullptr) {
        for (const auto& stream : streams_of(context)) {
            stream->abort();
        }
        end_context(context);
    }
}

std::int32_t current_device() {
    return current_or_throw()->device;
}

void* create_context(std::int32_t device) {
    check_device(device);
    current = make_context(device);
    return current->handle;
}

void destroy_context(void* handle) {
    const std::shared_ptr<Context> context = all().contexts.find(handle);
    if (context == nullptr) {
        throw_not_live("context");
    }
    {
        const std::lock_guard lock(all().mutex);
        if (all().devices[context->device].default_context == context) {
            throw_fault(RuntimeError::param_invalid,
                        "the context is the device's default one, which aclrtResetDevice frees");
        }
    }
    finish(context);
}

void set_current_context(void* handle) {
    std::shared_ptr<Context> context = all().contexts.find(handle);
    if (context == nullptr) {
        throw_not_live("context");
    }
    current = std::move(context);
}

void* current_context() {
    return current_or_throw()->handle;
}

void* create_stream() {
    auto created = std::make_shared<CreatedStream>();
    created->context = current_or_throw();
    created->stream = std::make_shared<Stream>();
    return all().streams.insert(std::move(created));
}

void destroy_stream(void* handle) {
    const std::shared_ptr<CreatedStream> created = take_stream(handle);
    created->stream->synchronize();
}

void destroy_stream_by_force(void* handle) {
    take_stream(handle)->stream->abort();
}

std::shared_ptr<Stream> find_stream(const void* handle) {
    if (handle == nullptr) {
        return current_or_throw()->default_stream();
    }
    const std::shared_ptr<CreatedStream> created = all().streams.find(handle);
    if (created == nullptr) {
        throw_not_live("stream");
    }
    return created->stream;
}

std::shared_ptr<Stream> find_stream_for_work(const void* handle) {
    if (handle != nullptr || (current != nullptr && current->alive)) {
        return find_stream(handle);
    }
    const std::lock_guard lock(all().mutex);
    return default_context(0)->default_stream();
}

bool synchronize_device(const Deadline& deadline) {
    const std::int32_t device = current_device();
    for (const auto& [handle, context] : all().contexts.all()) {
        if (context->device == device && !context->default_stream()->synchronize(deadline)) {
            return false;
        }
    }
    for (const auto& [handle, created] : all().streams.all()) {
        if (created->context->device == device && !created->stream->synchronize(deadline)) {
            return false;
        }
    }
    return true;
}

void reset_all_devices() {
    for (std::int32_t device = 0; device < device_count(); ++device) {
        std::shared_ptr<Context> context;
        {
            const std::lock_guard lock(all().mutex);
            context = detach_default_context(device);
        }
        if (context != nullptr) {
            finish(context);
        }
    }
}

std::vector<void*> live_streams() {
    std::vector<void*> handles;
    for (const auto& [handle, created] : all().streams.all()) {
        handles.push_back(handle);
    }
    return handles;
}

std::vector<void*> live_contexts() {
    std::vector<void*> handles;
    for (const auto& [handle, context] : all().contexts.all()) {
        if (!context->alive) {
            continue;
        }
        const std::lock_guard lock(all().mutex);
        if (all().devices[context->device].default_context != context) {
            handles.push_back(handle);
        }
    }
    return handles;
}

}  // namespace openaclnn
