// How many holds may be timed: keeps what timing them costs within a share of
// one CPU. Holds that are not timed are still counted, so exposure stays exact;
// what is lost is resolution of hold times, equally for all holds.
//
// Pure; not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_TIMING_BUDGET_H_
#define SWAPLOCK_AGENT_CAPTURE_TIMING_BUDGET_H_

#include <cstdint>

namespace swaplock {

class TimingBudget {
 public:
  static constexpr uint32_t kMaxShift = 16;

  // `share` of one CPU, 0: no limit. `cost_ns` is what timing one hold costs; 0
  // when it is not known, and then nothing is limited.
  TimingBudget(double share, uint32_t cost_ns)
      : share_(share), cost_ns_(cost_ns) {}

  // One hold in 2^shift() is to be timed.
  uint32_t shift() const { return shift_; }

  // What happened since the last call: holds that ended, timed or not, in
  // `elapsed_ns`. Raises the shift at once as far as needed, lowers it by one
  // where even twice the present cost would be below half the budget.
  void Observe(uint64_t holds, uint64_t elapsed_ns);

 private:
  // Share of one CPU at a shift.
  double Cost(uint64_t holds, uint64_t elapsed_ns, uint32_t shift) const;

  const double share_;
  const uint32_t cost_ns_;
  uint32_t shift_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_TIMING_BUDGET_H_
