#include "server/fleet/host_groups.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"

namespace swaplock {
namespace {

// What makes two hosts one group.
struct SameSaid {
  const HostRecord* host;

  bool operator==(const SameSaid& other) const {
    const std::vector<Probe>& a = host->coverage.probes;
    const std::vector<Probe>& b = other.host->coverage.probes;
    return host->environment.kernel_release ==
               other.host->environment.kernel_release &&
           std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Probe& x, const Probe& y) {
                        return x.state == y.state && x.name == y.name;
                      });
  }
  template <typename H>
  friend H AbslHashValue(H hash, const SameSaid& said) {
    hash = H::combine(std::move(hash), said.host->environment.kernel_release);
    for (const Probe& probe : said.host->coverage.probes) {
      hash = H::combine(std::move(hash), probe.state, probe.name);
    }
    return hash;
  }
};

}  // namespace

std::vector<HostGroup> GroupsOf(
    const std::map<std::string, HostRecord>& hosts) {
  absl::flat_hash_map<SameSaid, size_t> index;
  std::vector<HostGroup> groups;
  for (const auto& [id, host] : hosts) {
    const auto [it, is_new] = index.emplace(SameSaid{&host}, groups.size());
    if (is_new) {
      groups.push_back(
          {host.environment.kernel_release, host.coverage.probes, 0});
    }
    ++groups[it->second].hosts;
  }
  return groups;
}

}  // namespace swaplock
