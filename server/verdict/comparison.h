// From the rows of a rollout to the hosts that can be compared for one
// operation and outcome, with the reasons why others are left out, and the
// gates on the quality of what was measured.
#ifndef SWAPLOCK_SERVER_VERDICT_COMPARISON_H_
#define SWAPLOCK_SERVER_VERDICT_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/verdict/log_rate.h"
#include "server/verdict/operation_key.h"
#include "server/verdict/rollout.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

struct ComparedHost {
  const HostChange* host = nullptr;
  const OperationCounts* before_counts = nullptr;  // null in parallel groups
  const OperationCounts* after_counts = nullptr;   // never null
  EventsPer before;
  EventsPer after;
  bool treated() const { return host->arm == Arm::kTreated; }
};

struct Comparison {
  Design design = Design::kBeforeAfterWithControls;
  std::vector<ComparedHost> hosts;
  ArmTotals treated;
  ArmTotals controls;
  // Why nothing can be compared although hosts are there; empty otherwise.
  std::string not_comparable;
};

// Pointers into `rollout`, which must live as long.
Comparison Compare(const Rollout& rollout, const OperationKey& operation,
                   VerdictOutcome outcome, const RolloutRules& rules);

// Loss, attrition, workload and censoring, by their limits.
std::vector<Gate> CheckGates(const Comparison& comparison,
                             const RolloutRules& rules);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_COMPARISON_H_
