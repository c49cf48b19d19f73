// A wall clock that a replay sets, day by day, until it has caught up with the
// real one. Thread-safe; copies are the same clock.
#ifndef SWAPLOCK_SERVER_REPLAY_REPLAY_CLOCK_H_
#define SWAPLOCK_SERVER_REPLAY_REPLAY_CLOCK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace swaplock {

class ReplayClock {
 public:
  // It stands still at `time`, but is never ahead of the real one.
  void StandAt(absl::Time time) { *time_ns_ = absl::ToUnixNanos(time); }
  // It is the real one from now on.
  void CatchUp() { *time_ns_ = kRealTime; }

  absl::Time Now() const {
    const int64_t time_ns = *time_ns_;
    const absl::Time real = absl::Now();
    return time_ns == kRealTime ? real
                                : std::min(real, absl::FromUnixNanos(time_ns));
  }

  Clock AsClock() const {
    Clock clock;
    clock.wall = [copy = *this] { return copy.Now(); };
    return clock;
  }

 private:
  static constexpr int64_t kRealTime = INT64_MAX;
  std::shared_ptr<std::atomic<int64_t>> time_ns_ =
      std::make_shared<std::atomic<int64_t>>(kRealTime);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_REPLAY_REPLAY_CLOCK_H_
