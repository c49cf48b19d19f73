// When the fixed look at a rollout is made. It may be made once for its false
// alarm rate; a rollout that goes on after it gets another one, with half of
// what is left of the rate each time.
//
// Pure.
#ifndef SWAPLOCK_SERVER_JUDGE_LOOK_PLAN_H_
#define SWAPLOCK_SERVER_JUDGE_LOOK_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace swaplock {

struct LookPlan {
  bool ended = false;  // the fixed look is made
  // Of that look, or of the next one, from 1.
  uint64_t look = 1;
  // The last day of rows that count: `today` while the rollout goes on, then
  // the day after the look, for the look has to hold on two days in a row.
  int64_t as_of = 0;
  // The day of the last look that was made, also when the rollout went on
  // since.
  std::optional<int64_t> look_day;
  // How much of the false alarm rate the look may spend.
  double share = 1;
};

// Of the hosts whose boots were on these days (ascending), each watched for
// `days_to_close` days after it. The look is made on the first day that at
// least `min_hosts` were watched to the end and at most 5 % are still being
// watched; the next one after half as many again were upgraded. With a planned
// end it is made then, and never again.
LookPlan PlanLooks(const std::vector<int64_t>& upgrade_days,
                   int64_t days_to_close, uint64_t min_hosts, int64_t today,
                   std::optional<int64_t> planned_end);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_LOOK_PLAN_H_
