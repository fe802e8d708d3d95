// Callbacks of streams, run in the threads that subscribed to them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/stream.hpp"

namespace openaclnn {

using Callback = void (*)(void* user_data);

// The thread, known by its pthread_t or its kernel id, is to run the stream's callbacks.
void subscribe(std::uint64_t thread, Stream& stream);

// Throws RuntimeFault if the thread is not the stream's subscriber. What is queued is dropped.
void unsubscribe(std::uint64_t thread, Stream& stream);

// Queues a callback on the stream; a blocking one holds up the stream until it has run. Throws
// RuntimeFault if nobody has subscribed.
void launch_callback(Callback callback, void* user_data, bool blocking,
                     const std::shared_ptr<Stream>& stream);

// Runs the calling thread's callbacks that are due, after waiting for the first. Throws
// RuntimeFault if the thread has not subscribed, or nothing came in time.
void process_reports(const Deadline& deadline);

}  // namespace openaclnn
