// The two clocks of a window, as a value that tests replace: CLOCK_BOOTTIME,
// which never steps and counts suspend, and the wall clock, which may step.
#ifndef SWAPLOCK_COMMON_CLOCK_H_
#define SWAPLOCK_COMMON_CLOCK_H_

#include <time.h>

#include <cstdint>
#include <functional>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace swaplock {

struct Clock {
  // Nanoseconds of CLOCK_BOOTTIME.
  std::function<uint64_t()> boottime_ns = [] {
    timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(now.tv_nsec);
  };
  std::function<absl::Time()> wall = [] { return absl::Now(); };
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_CLOCK_H_
