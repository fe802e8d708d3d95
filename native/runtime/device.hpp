// Devices, and the contexts and streams that live on them. All devices are this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/event.hpp"
#include "runtime/stream.hpp"

namespace openaclnn {

// Everything here throws RuntimeFault.

// One, or what OPENACLNN_DEVICES says.
int device_count();

// Makes the device's default context the calling thread's; counted, see reset_device.
void set_device(std::int32_t device);

// Undoes one set_device; the last one waits for queued work, and frees the default context.
void reset_device(std::int32_t device);

// Frees the default context at once and drops queued work.
void reset_device_by_force(std::int32_t device);

// Of the calling thread's current context.
std::int32_t current_device();

// A new context becomes the calling thread's current one.
void* create_context(std::int32_t device);
void destroy_context(void* handle);
void set_current_context(void* handle);
void* current_context();

// On the current context.
void* create_stream();
void destroy_stream(void* handle);
void destroy_stream_by_force(void* handle);

// A stream by its handle; null stands for the current context's default stream.
std::shared_ptr<Stream> find_stream(const void* handle);

// The same for work that a thread without a context may queue too: device 0's default stream.
std::shared_ptr<Stream> find_stream_for_work(const void* handle);

// Waits for all streams of the current device; false if the deadline passed first.
bool synchronize_device(const Deadline& deadline);

// Waits for all devices' work and frees their default contexts.
void reset_all_devices();

// For the account at the end: handles of streams and contexts that were not destroyed.
std::vector<void*> live_streams();
std::vector<void*> live_contexts();

}  // namespace openaclnn
