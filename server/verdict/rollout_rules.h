// The limits that verdicts are made by. docs/VERDICTS.md says where each comes
// from.
#ifndef SWAPLOCK_SERVER_VERDICT_ROLLOUT_RULES_H_
#define SWAPLOCK_SERVER_VERDICT_ROLLOUT_RULES_H_

#include <cstdint>

namespace swaplock {

struct RolloutRules {
  double margin = 1.10;         // of the ratio; less is of no interest
  double tail = 0.05;           // outside the interval on either side
  double q_fixed = 0.025;       // false discovery rate of the final look
  double q_sequential = 0.025;  // and of the alarms before it
  // Whether the planned end has come: the fixed look is made once. Before it,
  // only a sequential alarm flags.
  bool ended = true;
  // Parallel groups of different hosts may make more than a suspicion.
  bool parallel_groups_may_flag = false;

  uint64_t min_hosts = 8;             // per arm
  uint64_t stratum_hosts = 8;         // per arm, or strata are joined
  uint64_t firm_stratum_hosts = 3;    // by the first kFirmKeys keys
  uint64_t min_operations = 100'000;  // of a host, in each window
  double min_hours = 72;              // of a host, measured, in each window
  double min_events = 20;             // in the arm that has more
  uint64_t min_event_hosts = 5;       // that these come from
  double sure_events = 30;  // of a typical host before: its rate is no chance
  uint64_t min_pairs_shown = 20;  // before a sequential alarm

  double workload_ratio = 4;        // change of operations beyond the arm's
  double max_attrition_points = 5;  // percentage points between arms
  double max_lost_percent = 1;
  double max_lost_points = 0.1;
  double max_censored_percent = 1;
  double max_censored_points = 0.5;
  double single_host_share = 0.3;  // of an arm's events: a finding
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ROLLOUT_RULES_H_
