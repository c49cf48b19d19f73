#include "agent/capture/timing_budget.h"

#include <cmath>

namespace swaplock {

double TimingBudget::Cost(uint64_t holds, uint64_t elapsed_ns,
                          uint32_t shift) const {
  return static_cast<double>(holds) * cost_ns_ /
         std::ldexp(static_cast<double>(elapsed_ns), static_cast<int>(shift));
}

void TimingBudget::Observe(uint64_t holds, uint64_t elapsed_ns) {
  if (share_ <= 0 || cost_ns_ == 0 || elapsed_ns == 0) return;
  while (shift_ < kMaxShift && Cost(holds, elapsed_ns, shift_) > share_) {
    ++shift_;
  }
  if (shift_ > 0 && Cost(holds, elapsed_ns, shift_ - 1) < share_ / 2) --shift_;
}

}  // namespace swaplock
