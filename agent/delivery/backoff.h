// How long to wait before the next attempt: full jitter, so that a fleet that
// lost its server together does not come back together. The n-th wait in a row
// is uniform between 0 and `first` * 2^(n-1), but no more than `cap`.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_DELIVERY_BACKOFF_H_
#define SWAPLOCK_AGENT_DELIVERY_BACKOFF_H_

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "absl/time/time.h"

namespace swaplock {

class Backoff {
 public:
  // Uniform in [0, 1).
  using Random = std::function<double()>;

  Backoff(absl::Duration first, absl::Duration cap, Random random = Seeded())
      : first_(first), cap_(cap), bound_(first), random_(std::move(random)) {}

  absl::Duration Next() {
    const absl::Duration bound = std::min(bound_, cap_);
    bound_ = bound * 2;
    return bound * random_();
  }

  // After a success.
  void Reset() { bound_ = first_; }

  static Random Seeded() {
    return [generator = std::mt19937_64(std::random_device()())]() mutable {
      return std::uniform_real_distribution<double>(0, 1)(generator);
    };
  }

 private:
  const absl::Duration first_;
  const absl::Duration cap_;
  absl::Duration bound_;
  Random random_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_BACKOFF_H_
