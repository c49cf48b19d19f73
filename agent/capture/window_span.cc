#include "agent/capture/window_span.h"

#include <time.h>

#include <algorithm>

namespace swaplock {
namespace {

// Clocks read one after the other differ by less.
constexpr uint64_t kBetweenReadingsNs = 1'000'000;

uint64_t NowNs(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

ClockReadings ReadClocks() {
  ClockReadings now;
  now.boottime_ns = NowNs(CLOCK_BOOTTIME);
  now.monotonic_ns = NowNs(CLOCK_MONOTONIC);
  now.unix_ns = NowNs(CLOCK_REALTIME);
  return now;
}

void WindowSpan::End(const ClockReadings& now, Window* window) {
  window->start_boottime_ns = start_.boottime_ns;
  window->end_boottime_ns = std::max(now.boottime_ns, start_.boottime_ns + 1);
  window->end_unix_ns = now.unix_ns;
  const uint64_t elapsed_ns =
      window->end_boottime_ns - window->start_boottime_ns;
  const uint64_t awake_ns = now.monotonic_ns - start_.monotonic_ns;
  window->suspended_ns =
      elapsed_ns > awake_ns + kBetweenReadingsNs ? elapsed_ns - awake_ns : 0;
  start_ = now;
  start_.boottime_ns = window->end_boottime_ns;
}

}  // namespace swaplock
