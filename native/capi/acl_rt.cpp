// Devices, contexts, streams, events, memory and callbacks.
#include "acl/acl_rt.h"

#include "capi/guard.hpp"
#include "capi/objects.hpp"
#include "checker/checker.hpp"
#include "executor/current_product.hpp"
#include "runtime/device.hpp"
#include "runtime/memory.hpp"
#include "runtime/report.hpp"

using namespace openaclnn;
using capi::guarded;
using capi::require;

namespace {

[[noreturn]] void throw_late(RuntimeError error, std::int32_t timeout) {
    throw RuntimeFault{error, "not over within " + std::to_string(timeout) + " ms"};
}

void synchronize_stream(aclrtStream handle, const Deadline& deadline, std::int32_t timeout) {
    const std::shared_ptr<Stream> stream = find_stream(handle);
    if (!stream->synchronize(deadline)) {
        throw_late(RuntimeError::stream_sync_timeout, timeout);
    }
    checker::synchronized(stream->id());
}

void synchronize_event(aclrtEvent handle, const Deadline& deadline, std::int32_t timeout) {
    const std::shared_ptr<Event> event = capi::find_event(handle);
    if (event->issued() &&
        !event->wait_for(event->record_to_wait_for(), deadline, [] { return false; })) {
        throw_late(RuntimeError::event_sync_timeout, timeout);
    }
    checker::synchronized_event(event.get());
}

CopyKind copy_kind(aclrtMemcpyKind kind) {
    switch (kind) {
        case ACL_MEMCPY_HOST_TO_HOST:
            return CopyKind::host_to_host;
        case ACL_MEMCPY_HOST_TO_DEVICE:
            return CopyKind::host_to_device;
        case ACL_MEMCPY_DEVICE_TO_HOST:
            return CopyKind::device_to_host;
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
            return CopyKind::device_to_device;
        case ACL_MEMCPY_DEFAULT:
            return CopyKind::any;
    }
    throw RuntimeFault{RuntimeError::param_invalid, "kind is " +
                                                        std::to_string(static_cast<int>(kind)) +
                                                        "; a value of aclrtMemcpyKind is expected"};
}

Copy straight_copy(void* to, std::size_t most, const void* from, std::size_t count) {
    if (count > most) {
        throw RuntimeFault{RuntimeError::param_invalid, "count is " + std::to_string(count) +
                                                            ", over destMax, which is " +
                                                            std::to_string(most)};
    }
    return {to, count, from, count, count, 1};
}

void copy_now(const char* function, const Copy& copy, aclrtMemcpyKind kind) {
    check_copy(copy, copy_kind(kind));
    const std::size_t bytes =
        copy.height == 0 ? 0 : copy.from_pitch * (copy.height - 1) + copy.width;
    checker::read(function, copy.from, bytes);
    do_copy(copy);
}

void copy_later(const Copy& copy, aclrtMemcpyKind kind, aclrtStream stream) {
    check_copy(copy, copy_kind(kind));
    capi::queue_work(stream, *find_stream_for_work(stream), [copy] { do_copy(copy); });
}

void allocate_into(void** pointer, std::size_t size, MemoryKind kind, const char* name) {
    require(pointer, name);
    *pointer = allocate(size, kind);
}

void create_event(aclrtEvent* event) {
    require(event, "event");
    *event = capi::insert_event(std::make_shared<Event>());
}

}  // namespace

extern "C" {

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    return guarded("aclrtGetVersion", [&] {
        require(majorVersion, "majorVersion");
        require(minorVersion, "minorVersion");
        require(patchVersion, "patchVersion");
        *majorVersion = 1;
        *minorVersion = 13;
        *patchVersion = 0;
    });
}

const char* aclrtGetSocName(void) {
    const char* name = nullptr;
    guarded("aclrtGetSocName", [&] { name = current_product().soc_name.c_str(); });
    return name;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    return guarded("aclrtGetRunMode", [&] {
        require(runMode, "runMode");
        *runMode = ACL_HOST;
    });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    return guarded("aclrtGetDeviceCount", [&] {
        require(count, "count");
        *count = static_cast<uint32_t>(device_count());
    });
}

aclError aclrtSetDevice(int32_t deviceId) {
    return guarded("aclrtSetDevice", [&] { set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
    return guarded("aclrtResetDevice", [&] { reset_device(deviceId); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    return guarded("aclrtResetDeviceForce", [&] { reset_device_by_force(deviceId); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
    return guarded("aclrtGetDevice", [&] {
        require(deviceId, "deviceId");
        *deviceId = current_device();
    });
}

aclError aclrtSynchronizeDevice(void) {
    return guarded("aclrtSynchronizeDevice", [] {
        synchronize_device(std::nullopt);
        checker::synchronized_all();
    });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    return guarded("aclrtSynchronizeDeviceWithTimeout", [&] {
        if (!synchronize_device(deadline_after(timeout))) {
            throw_late(RuntimeError::stream_sync_timeout, timeout);
        }
        checker::synchronized_all();
    });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    return guarded("aclrtCreateContext", [&] {
        require(context, "context");
        *context = create_context(deviceId);
    });
}

aclError aclrtDestroyContext(aclrtContext context) {
    return guarded("aclrtDestroyContext", [&] {
        require(context, "context");
        destroy_context(context);
    });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    return guarded("aclrtSetCurrentContext", [&] {
        require(context, "context");
        set_current_context(context);
    });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    return guarded("aclrtGetCurrentContext", [&] {
        require(context, "context");
        *context = current_context();
    });
}

aclError aclrtCreateStream(aclrtStream* stream) {
    return guarded("aclrtCreateStream", [&] {
        require(stream, "stream");
        *stream = create_stream();
    });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
    return guarded("aclrtCreateStreamWithConfig", [&] {
        require(stream, "stream");
        *stream = create_stream();
    });
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return guarded("aclrtDestroyStream", [&] {
        const std::int32_t id = stream == nullptr ? -1 : find_stream(stream)->id();
        destroy_stream(stream);
        checker::synchronized(id);
    });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return guarded("aclrtDestroyStreamForce", [&] { destroy_stream_by_force(stream); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    return guarded("aclrtSynchronizeStream", [&] { synchronize_stream(stream, std::nullopt, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return guarded("aclrtSynchronizeStreamWithTimeout",
                   [&] { synchronize_stream(stream, deadline_after(timeout), timeout); });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    return guarded("aclrtStreamQuery", [&] {
        require(status, "status");
        const std::shared_ptr<Stream> found = find_stream(stream);
        const bool complete = found->idle();
        if (complete) {
            checker::synchronized(found->id());
        }
        *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    });
}

aclError aclrtStreamAbort(aclrtStream stream) {
    return guarded("aclrtStreamAbort", [&] { find_stream(stream)->abort(); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return guarded("aclrtStreamWaitEvent",
                   [&] { find_stream(stream)->wait_event(capi::find_event(event)); });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    return guarded("aclrtSetStreamFailureMode", [&] {
        const std::shared_ptr<Stream> found = find_stream(stream);
        if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
            throw RuntimeFault{RuntimeError::param_invalid,
                               "mode is " + std::to_string(mode) +
                                   "; ACL_CONTINUE_ON_FAILURE (0) or ACL_STOP_ON_FAILURE (1) "
                                   "is expected"};
        }
        found->stops_on_failure = mode == ACL_STOP_ON_FAILURE;
    });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    return guarded("aclrtSetStreamOverflowSwitch",
                   [&] { find_stream(stream)->overflow_switch = flag; });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
    return guarded("aclrtGetStreamOverflowSwitch", [&] {
        require(flag, "flag");
        *flag = find_stream(stream)->overflow_switch;
    });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
    return guarded("aclrtStreamGetId", [&] {
        require(streamId, "streamId");
        *streamId = find_stream(stream)->id();
    });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
    return guarded("aclrtCreateEvent", [&] { create_event(event); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) {
    return guarded("aclrtCreateEventWithFlag", [&] { create_event(event); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
    return guarded("aclrtCreateEventExWithFlag", [&] { create_event(event); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    return guarded("aclrtDestroyEvent", [&] { capi::remove_event(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return guarded("aclrtRecordEvent", [&] {
        const std::shared_ptr<Event> found = capi::find_event(event);
        const std::shared_ptr<Stream> target = find_stream(stream);
        target->record_event(found);
        checker::recorded(found.get(), target->id());
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return guarded("aclrtResetEvent", [&] {
        find_stream(stream)->do_or_enqueue([found = capi::find_event(event)] { found->clear(); });
    });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    return guarded("aclrtQueryEvent", [&] {
        require(status, "status");
        *status = capi::find_event(event)->recorded() ? ACL_EVENT_STATUS_COMPLETE
                                                      : ACL_EVENT_STATUS_NOT_READY;
    });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    return guarded("aclrtQueryEventStatus", [&] {
        require(status, "status");
        const std::shared_ptr<Event> found = capi::find_event(event);
        const bool complete = found->recorded();
        if (complete) {
            checker::synchronized_event(found.get());
        }
        *status =
            complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
    return guarded("aclrtQueryEventWaitStatus", [&] {
        require(status, "status");
        *status = capi::find_event(event)->waits_ended() ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                                         : ACL_EVENT_WAIT_STATUS_NOT_READY;
    });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return guarded("aclrtSynchronizeEvent", [&] { synchronize_event(event, std::nullopt, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return guarded("aclrtSynchronizeEventWithTimeout",
                   [&] { synchronize_event(event, deadline_after(timeout), timeout); });
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent startEvent, aclrtEvent endEvent) {
    return guarded("aclrtEventElapsedTime", [&] {
        require(milliseconds, "milliseconds");
        const auto start = capi::find_event(startEvent)->time();
        const auto end = capi::find_event(endEvent)->time();
        if (!start.has_value() || !end.has_value()) {
            throw RuntimeFault{RuntimeError::event_timestamp_invalid,
                               "both events must have been recorded, and their records complete"};
        }
        if (*end < *start) {
            throw RuntimeFault{RuntimeError::event_timestamp_reversal,
                               "the end event was recorded before the start event"};
        }
        *milliseconds = std::chrono::duration<float, std::milli>(*end - *start).count();
    });
}

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded("aclrtMalloc",
                   [&] { allocate_into(devPtr, size, MemoryKind::device, "devPtr"); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded("aclrtMallocAlign32",
                   [&] { allocate_into(devPtr, size, MemoryKind::device, "devPtr"); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded("aclrtMallocCached",
                   [&] { allocate_into(devPtr, size, MemoryKind::device, "devPtr"); });
}

aclError aclrtFree(void* devPtr) {
    return guarded("aclrtFree", [&] {
        checker::freed("aclrtFree", devPtr);
        release(devPtr, MemoryKind::device);
    });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    return guarded("aclrtMallocHost",
                   [&] { allocate_into(hostPtr, size, MemoryKind::host, "hostPtr"); });
}

aclError aclrtFreeHost(void* hostPtr) {
    return guarded("aclrtFreeHost", [&] { release(hostPtr, MemoryKind::host); });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    return guarded("aclrtMemset", [&] {
        check_fill(devPtr, maxCount, count);
        fill(devPtr, value, count);
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
    return guarded("aclrtMemsetAsync", [&] {
        check_fill(devPtr, maxCount, count);
        capi::queue_work(stream, *find_stream_for_work(stream),
                         [devPtr, value, count] { fill(devPtr, value, count); });
    });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
    return guarded("aclrtMemcpy",
                   [&] { copy_now("aclrtMemcpy", straight_copy(dst, destMax, src, count), kind); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    return guarded("aclrtMemcpyAsync",
                   [&] { copy_later(straight_copy(dst, destMax, src, count), kind, stream); });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
    return guarded("aclrtMemcpy2d", [&] {
        copy_now("aclrtMemcpy2d", {dst, dpitch, src, spitch, width, height}, kind);
    });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
    return guarded("aclrtMemcpy2dAsync",
                   [&] { copy_later({dst, dpitch, src, spitch, width, height}, kind, stream); });
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* freeSize, size_t* totalSize) {
    return guarded("aclrtGetMemInfo", [&] {
        require(freeSize, "freeSize");
        require(totalSize, "totalSize");
        const MemoryInfo info = memory_info();
        *freeSize = info.free;
        *totalSize = info.total;
    });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
    return guarded("aclrtLaunchCallback", [&] {
        require(reinterpret_cast<const void*>(fn), "fn");
        launch_callback(fn, userData, blockType == ACL_CALLBACK_BLOCK, find_stream(stream));
    });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return guarded("aclrtSubscribeReport", [&] { subscribe(threadId, *find_stream(stream)); });
}

aclError aclrtProcessReport(int32_t timeout) {
    return guarded("aclrtProcessReport", [&] { process_reports(deadline_after(timeout)); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return guarded("aclrtUnSubscribeReport", [&] { unsubscribe(threadId, *find_stream(stream)); });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, void (*fn)(void*), void* args) {
    return guarded("aclrtLaunchHostFunc", [&] {
        require(reinterpret_cast<const void*>(fn), "fn");
        find_stream(stream)->enqueue([fn, args] { fn(args); });
    });
}

}  // extern "C"
