// A simulated rollout as windows, to be fed through a real server.
#ifndef SWAPLOCK_TESTS_LOAD_FLEET_WINDOWS_H_
#define SWAPLOCK_TESTS_LOAD_FLEET_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "common/window.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {

// What DrawFleet(scenario, seed) draws, as the windows of its hosts: one a day,
// from 29 days before a host's reboot to 8 after it, without the days around
// the reboot that nothing is drawn for; in the order in which they end. A host
// that vanishes sends nothing after its reboot. Kernels are called as in the
// rollout.
//
// A window's distributions have the counts and sums drawn; where values lie
// between thresholds is made up.
std::vector<Window> FleetWindows(const Scenario& scenario, uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_FLEET_WINDOWS_H_
