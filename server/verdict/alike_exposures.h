// Makes exposures alike in both arms of a stratum, so that hosts with few
// events can be compared by ranks.
#ifndef SWAPLOCK_SERVER_VERDICT_ALIKE_EXPOSURES_H_
#define SWAPLOCK_SERVER_VERDICT_ALIKE_EXPOSURES_H_

#include <vector>

namespace swaplock {

// Of each host's after-window, the share that is kept: above 0, at most 1.
struct KeptShares {
  std::vector<double> treated;
  std::vector<double> controls;
};

// Given the logarithm of how each host's exposure changed (after over before;
// of different hosts, the exposure itself). A host keeps what takes it down to
// the host of the same rank in the other arm, so that both arms' changes are
// distributed alike. Where they are already, hardly anything is given up.
//
// Without it, a kernel that does more operations shows more hosts whose few
// events lie after the upgrade, which reads as a regression by ranks.
KeptShares MakeExposuresAlike(const std::vector<double>& treated,
                              const std::vector<double>& controls);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ALIKE_EXPOSURES_H_
