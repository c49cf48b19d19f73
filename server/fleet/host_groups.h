// Hosts that run the same kernel with the same probes, counted: all that
// metrics need to know of hosts, without a copy of every one.
#ifndef SWAPLOCK_SERVER_FLEET_HOST_GROUPS_H_
#define SWAPLOCK_SERVER_FLEET_HOST_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/window.h"
#include "server/fleet/fleet_state.h"

namespace swaplock {

struct HostGroup {
  std::string kernel_release;
  std::vector<Probe> probes;  // of one of them; the others' names and states
                              // are the same
  uint64_t hosts = 0;
};

// Every host is in exactly one group. Some 200 ns a host.
std::vector<HostGroup> GroupsOf(const std::map<std::string, HostRecord>& hosts);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_HOST_GROUPS_H_
