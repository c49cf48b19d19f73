#include "server/verdict/kernel_pairs.h"

#include <set>

#include "common/kernel_release.h"

namespace swaplock {

std::vector<KernelPair> AdjacentPairs(const std::vector<std::string>& kernels) {
  const std::set<std::string, KernelReleaseOlder> ordered(kernels.begin(),
                                                          kernels.end());
  std::vector<KernelPair> pairs;
  const std::string* previous = nullptr;
  for (const std::string& kernel : ordered) {
    if (kernel.empty()) continue;
    if (previous != nullptr) pairs.push_back({*previous, kernel});
    previous = &kernel;
  }
  return pairs;
}

}  // namespace swaplock
