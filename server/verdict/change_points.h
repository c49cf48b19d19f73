// Days on which one cohort changed its level: E-divisive (Matteson and James)
// with a permutation test, a minimum segment, a magnitude and persistence. For
// drift inside one kernel build; what it finds is never more than a suspicion.
#ifndef SWAPLOCK_SERVER_VERDICT_CHANGE_POINTS_H_
#define SWAPLOCK_SERVER_VERDICT_CHANGE_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace swaplock {

struct ChangePointRules {
  size_t min_segment = 7;  // days on either side
  double max_p = 0.001;
  double min_ratio = 1.10;  // or its inverse, of the levels
  size_t persistence = 3;   // days that must all lie beyond the old level
  int permutations = 999;   // p is (b + 1) / (permutations + 1)
};

struct ChangePoint {
  size_t index = 0;  // the first day of the new level
  // Where the change may lie: splits that are nearly as good.
  size_t first = 0;
  size_t last = 0;
  double p_value = 1;
  double ratio = 1;  // of levels, after over before
};

// `log_levels`: one finite number a day, the centre of the hosts' log rates
// (PseudoMedian of signed_rank.h), never the total of a fleet, which a gradual
// rollout smears. In order of days.
std::vector<ChangePoint> FindChangePoints(const std::vector<double>& log_levels,
                                          const ChangePointRules& rules,
                                          uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_CHANGE_POINTS_H_
