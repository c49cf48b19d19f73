// Which kernels have series of their own in /metrics: the eight with most hosts
// now. All others share the label value "other".
#ifndef SWAPLOCK_SERVER_METRICS_KERNEL_LABEL_H_
#define SWAPLOCK_SERVER_METRICS_KERNEL_LABEL_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "server/fleet/fleet_state.h"
#include "server/fleet/host_groups.h"

namespace swaplock {

class KernelLabels {
 public:
  static constexpr size_t kKernels = 8;

  // Of equally many hosts the newer kernel counts more.
  explicit KernelLabels(const FleetState& state)
      : KernelLabels(state, GroupsOf(state.hosts)) {}
  // The hosts are those of `groups`, which the state need not have.
  KernelLabels(const FleetState& state, const std::vector<HostGroup>& groups);

  bool Has(const std::string& kernel) const { return named_.count(kernel) > 0; }
  std::string Of(const std::string& kernel) const {
    return Has(kernel) ? kernel : "other";
  }

 private:
  std::set<std::string> named_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_KERNEL_LABEL_H_
