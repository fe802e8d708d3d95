// Threads for long calls.
#pragma once

namespace openaclnn {

constexpr int kMostThreads = 1024;

// The most threads that one call uses. At first what OPENACLNN_NUM_THREADS says, or else the
// number of processors that this process may run on. Throws std::invalid_argument if the
// environment variable is not a number from 1 to 1024.
int num_threads();

// From 1 to kMostThreads.
void set_num_threads(int count);

// Runs work() on the calling thread and, as far as they are free, on up to threads - 1 others at
// the same time. Returns when all have returned. The work must share itself out: it may find
// itself alone. The threads are those of an OpenMP runtime if one is in the process (see
// open_mp.hpp), or else our own, started when first needed, and again after a fork in the child.
void run_on_threads(int threads, void (*work)(void* context), void* context);

template <class Work>
void run_on_threads(int threads, const Work& work) {
    run_on_threads(
        threads, [](void* context) { (*static_cast<const Work*>(context))(); },
        const_cast<Work*>(&work));
}

}  // namespace openaclnn
