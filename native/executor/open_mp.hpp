// The threads of an OpenMP runtime that other libraries have brought into the process. For
// milliseconds after each of their calls they wait for the next one without sleeping: threads of
// our own would find no processor free beside them.
#pragma once

namespace openaclnn {

// Runs work() on the calling thread and on up to threads - 1 of the runtime's. False if there is
// no runtime, or if this process was forked: then the runtime's threads may be missing unnoticed.
bool run_on_open_mp(int threads, void (*work)(void* context), void* context);

}  // namespace openaclnn
