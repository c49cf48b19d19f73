// Whether what the agents lost, left out or sampled stands in the way of
// comparing what they measured of operations and locks.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_LOSS_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_LOSS_H_

#include <string>
#include <vector>

#include "cli/compare/comparison_arms.h"

namespace swaplock {

struct Losses {
  std::string untested;        // why nothing of the locks is tested, or empty
  std::string holds_untested;  // why their holds are not, or empty
  std::vector<std::string> remarks;
};

// More than 1 % of the acquisitions lost on a side, or 0.1 points more than on
// the other, is too much; so is one hold in 2^n timed with different n.
Losses LossesOf(const Runs& base, const Runs& newer);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_LOSS_H_
