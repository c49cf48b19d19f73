#include "server/judge/look_plan.h"

#include <algorithm>
#include <cmath>

namespace swaplock {
namespace {

constexpr uint64_t kPartOfHosts = 20;  // one in so many may be waited for

}  // namespace

LookPlan PlanLooks(const std::vector<int64_t>& upgrade_days,
                   int64_t days_to_close, uint64_t min_hosts, int64_t today,
                   std::optional<int64_t> planned_end) {
  LookPlan plan;
  plan.as_of = today;
  if (planned_end.has_value()) {
    if (today < *planned_end) return plan;
    plan.ended = true;
    plan.look_day = planned_end;
    plan.as_of = std::min(today, *planned_end + 1);
    return plan;
  }
  const auto upgraded_by = [&](int64_t day) {
    return static_cast<uint64_t>(
        std::upper_bound(upgrade_days.begin(), upgrade_days.end(), day) -
        upgrade_days.begin());
  };
  uint64_t looks = 0;
  uint64_t looked_at = 0;  // hosts, by the last look
  const int64_t first = upgrade_days.empty() ? today + 1 : upgrade_days.front();
  for (int64_t day = first; day <= today; ++day) {
    const uint64_t all = upgraded_by(day);
    const uint64_t watched = upgraded_by(day - days_to_close);
    if (watched < min_hosts || (all - watched) * kPartOfHosts > all ||
        (looks > 0 && 2 * all < 3 * looked_at)) {
      continue;
    }
    ++looks;
    looked_at = all;
    plan.look_day = day;
  }
  plan.ended = looks > 0 && 2 * upgraded_by(today) < 3 * looked_at;
  plan.look = plan.ended ? looks : looks + 1;
  plan.share =
      std::ldexp(1.0, -static_cast<int>(std::min<uint64_t>(plan.look, 60)));
  if (plan.ended) plan.as_of = std::min(today, *plan.look_day + 1);
  return plan;
}

}  // namespace swaplock
