#include "server/fleet/exemplar_holds.h"

#include <algorithm>
#include <string>
#include <utility>

namespace swaplock {

std::vector<const TopHold*> ExemplarHolds(const FleetState& state,
                                          absl::Time now,
                                          const VerdictRecord& record) {
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(kLongestHours));
  const auto is_named = [&](const TopHold* top) {
    return std::any_of(
        record.top_hosts.begin(), record.top_hosts.end(),
        [&](const TopHost& host) { return host.host_id == top->host_id; });
  };
  std::vector<std::string> kernels = {record.kernel_new, record.kernel_base};
  if (record.kind == VerdictKind::kImprovement) {
    std::swap(kernels[0], kernels[1]);
  }
  std::vector<const TopHold*> out;
  for (const std::string& kernel : kernels) {
    std::vector<const TopHold*> found;
    for (const TopHold& top : state.top_holds) {
      if (top.kernel_release != kernel ||
          top.key.subsystem != record.subsystem ||
          static_cast<int64_t>(top.end_unix_ns) < oldest) {
        continue;
      }
      found.push_back(&top);
    }
    // Longest first they are already.
    std::stable_partition(found.begin(), found.end(), is_named);
    if (found.size() > kExemplarsOfKernel) found.resize(kExemplarsOfKernel);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace swaplock
