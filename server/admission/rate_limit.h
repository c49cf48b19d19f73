// So many a second, and a burst after a pause: a token bucket. The time is the
// caller's and must not run backwards. Not thread-safe.
#ifndef SWAPLOCK_SERVER_ADMISSION_RATE_LIMIT_H_
#define SWAPLOCK_SERVER_ADMISSION_RATE_LIMIT_H_

#include <algorithm>

#include "absl/time/time.h"

namespace swaplock {

class RateLimit {
 public:
  // Both above 0.
  RateLimit(double per_second, double burst)
      : per_second_(per_second), burst_(burst), left_(burst) {}

  // Zero, and one is taken; or how long to wait until one can be.
  absl::Duration Take(absl::Time now) {
    if (now > last_) {
      left_ = std::min(
          burst_, left_ + per_second_ * absl::ToDoubleSeconds(now - last_));
    }
    last_ = std::max(last_, now);
    if (left_ >= 1) {
      left_ -= 1;
      return absl::ZeroDuration();
    }
    return std::max(absl::Milliseconds(1),
                    absl::Seconds((1 - left_) / per_second_));
  }

  // Whether nothing was taken for so long that a new one would be the same.
  bool IsFull(absl::Time now) const {
    return left_ + per_second_ * absl::ToDoubleSeconds(now - last_) >= burst_;
  }

 private:
  double per_second_;
  double burst_;
  double left_;
  absl::Time last_ = absl::UnixEpoch();
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_RATE_LIMIT_H_
