// Which kernel builds are compared with which: each with the one before it.
#ifndef SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_
#define SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_

#include <string>
#include <vector>

namespace swaplock {

struct KernelPair {
  std::string base;
  std::string newer;
};

// Every release in `kernels` (any order, repeats and empty names ignored) with
// its predecessor in the order of common/kernel_release; oldest pair first.
std::vector<KernelPair> AdjacentPairs(const std::vector<std::string>& kernels);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_
