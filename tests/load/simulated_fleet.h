// Fleets whose truth is known, as the rows that verdicts are made of: hosts
// with rates and throughputs of their own, bursts, calendar days that everybody
// shares, and the ways in which rollouts mislead.
//
// The same scenario and seed give the same fleet.
#ifndef SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_
#define SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/verdict/rollout.h"

namespace swaplock {

// scenario.proto says what the fields are.
struct Scenario {
  std::string name;
  int hosts_per_arm = 60;
  int waves = 2;
  int operations = 1;
  double ratio = 1;
  double mean_events = 30;
  double exposure = 1;
  double noise = 0.65;
  double burst_shape = 2;
  double worst_rate = 5e-4;
  double calendar_sd = 0;
  double class_b_treated = 0;
  double class_b_controls = 0;
  double fresh_boot = 1;
  double controls_not_rebooted = 0;
  double crazy_host = 1;
  double attrition = 0;
  double worst_first = 0;  // 0: upgrades have nothing to do with rates
  double workload_changed = 0;
  double lost_events = 0;
};

// Counts of one host on each of the 28 days before its reboot and the 14 after,
// of the first operation: what a time series shows.
struct HostSeries {
  bool treated = false;
  // The truth: the logarithm of the rate after over the rate before, without
  // bursts and counting.
  double log_change = 0;
  std::vector<double> events;
  std::vector<double> operations;
};

inline constexpr int kSeriesDays = 42;
inline constexpr int kRebootAt = 28;

// What a host counts on each day of its before-window, then of its
// after-window.
using HostDays = std::map<OperationKey, std::vector<OperationCounts>>;

struct SimulatedFleet {
  Rollout rollout;
  std::vector<HostDays> days;  // of the rollout's hosts, if they were asked for
  std::vector<HostSeries> series;  // of hosts that did not vanish
};

SimulatedFleet DrawFleet(const Scenario& scenario, uint64_t seed,
                         bool with_days = false);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_
