// From where to where a window lasts, by three clocks: CLOCK_BOOTTIME, which
// never steps and counts suspend; CLOCK_MONOTONIC, which stands still in it;
// and the wall clock, which may step either way and only says when the window
// ended.
#ifndef SWAPLOCK_AGENT_CAPTURE_WINDOW_SPAN_H_
#define SWAPLOCK_AGENT_CAPTURE_WINDOW_SPAN_H_

#include <cstdint>

#include "common/window.h"

namespace swaplock {

// Nanoseconds of each clock, read one after the other.
struct ClockReadings {
  uint64_t boottime_ns = 0;
  uint64_t monotonic_ns = 0;
  uint64_t unix_ns = 0;  // CLOCK_REALTIME
};
ClockReadings ReadClocks();

class WindowSpan {
 public:
  void Begin(const ClockReadings& now) { start_ = now; }

  // The window ends here and the next one begins. Sets the window's times; it
  // is at least a nanosecond long.
  void End(const ClockReadings& now, Window* window);

  // Where the window began.
  const ClockReadings& start() const { return start_; }

 private:
  ClockReadings start_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_WINDOW_SPAN_H_
