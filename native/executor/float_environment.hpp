// The floating-point environment that kernels need: rounding to nearest, subnormals kept.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace openaclnn {

// While it lives, the calling thread has the default environment, whatever its owner set: a program
// that flushes subnormals elsewhere still gets them here.
class FloatEnvironment {
  public:
#if defined(__x86_64__)
    FloatEnvironment() : before_(_mm_getcsr()) {
        if (before_ != kDefault) {
            _mm_setcsr(kDefault);
        }
    }
    // Exception flags that were raised meanwhile are dropped.
    ~FloatEnvironment() { _mm_setcsr(before_); }

  private:
    static constexpr unsigned kDefault = 0x1f80;
    unsigned before_;
#elif defined(__aarch64__)
    FloatEnvironment() {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        set(0);
    }
    ~FloatEnvironment() { set(before_); }

  private:
    static void set(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
    std::uint64_t before_;
#else
    FloatEnvironment() {}
    ~FloatEnvironment() {}
#endif

  public:
    FloatEnvironment(const FloatEnvironment&) = delete;
    FloatEnvironment& operator=(const FloatEnvironment&) = delete;
};

}  // namespace openaclnn
