// Fleets whose truth is known, as the rows that verdicts are made of: hosts
// with rates and throughputs of their own, bursts, calendar days that everybody
// shares, and the ways in which rollouts mislead.
//
// The same scenario and seed give the same fleet.
#ifndef SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_
#define SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/verdict/rollout.h"

namespace swaplock {

struct Scenario {
  std::string name;
  int hosts_per_arm = 60;
  int waves = 2;       // calendar weeks in which hosts are upgraded
  int operations = 1;  // up to 4: zram read and write, zswap load and store
  double ratio = 1;    // the new kernel's true effect on every outcome
  double mean_events = 30;  // waits over 10 ms of a typical host in 7 days
  double exposure = 1;      // operations on upgraded hosts, after over before
  double noise = 0.65;     // times a t3 number: the change of a host's log rate
  double burst_shape = 2;  // of the gamma number that each day's rate is times
  double worst_rate = 5e-4;  // waits over 10 ms per operation, at most
  double calendar_sd = 0;    // of a week's shock, on the log scale, all hosts
  // A second class of hosts has five times the rate, and in the after-weeks 1.5
  // times as much again on either kernel. Its share in the two arms:
  double class_b_treated = 0;
  double class_b_controls = 0;
  // A fresh boot has this rate; so many controls did not reboot.
  double fresh_boot = 1;
  double controls_not_rebooted = 0;
  double crazy_host = 1;  // one upgraded host's rate times this
  double attrition = 0;   // share of upgraded hosts, the worst, that vanish
};

// Counts of one host on each of the 14 days before and the 14 after its reboot,
// of the first operation: what a time series shows.
struct HostSeries {
  bool treated = false;
  std::vector<double> events;
  std::vector<double> operations;
};

inline constexpr int kSeriesDays = 28;
inline constexpr int kRebootAt = 14;

struct SimulatedFleet {
  Rollout rollout;
  std::vector<HostSeries> series;  // of hosts that did not vanish
};

SimulatedFleet DrawFleet(const Scenario& scenario, uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SIMULATED_FLEET_H_
