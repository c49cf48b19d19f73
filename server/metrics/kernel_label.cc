#include "server/metrics/kernel_label.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/kernel_release.h"

namespace swaplock {

KernelLabels::KernelLabels(const FleetState& state,
                           const std::vector<HostGroup>& groups) {
  std::map<std::string, uint64_t> hosts;
  for (const auto& [key, cohort] : state.cohorts) hosts[key.kernel_release];
  for (const HostGroup& group : groups) {
    hosts[group.kernel_release] += group.hosts;
  }
  std::vector<std::pair<std::string, uint64_t>> ranked(hosts.begin(),
                                                       hosts.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.second != b.second) return a.second > b.second;
    return CompareKernelReleases(a.first, b.first) > 0;
  });
  if (ranked.size() > kKernels) ranked.resize(kKernels);
  for (auto& [kernel, count] : ranked) named_.insert(std::move(kernel));
}

}  // namespace swaplock
