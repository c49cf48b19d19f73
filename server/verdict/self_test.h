// The engine's own false alarms and power, measured on the ledger's real hosts.
//
// Hosts that kept their kernel are split by a seeded hash into fake upgraded
// ones and controls: whatever the engine then finds is false. Counting what it
// finds when the fake upgraded hosts' events are multiplied gives its power.
#ifndef SWAPLOCK_SERVER_VERDICT_SELF_TEST_H_
#define SWAPLOCK_SERVER_VERDICT_SELF_TEST_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "server/verdict/distributions.h"
#include "server/verdict/operation_key.h"
#include "server/verdict/rollout.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

struct SelfTestResult {
  OperationKey operation;
  VerdictOutcome outcome = VerdictOutcome::kWaitsOver10ms;
  uint64_t splits = 0;  // in which the outcome was tested
  // No effect: p of the fixed look at 5 %, two-sided, without a margin. Spiked:
  // one-sided, against the margin.
  uint64_t rejected = 0;
  uint64_t flagged = 0;  // REGRESSION, IMPROVEMENT or MIXED as configured
  Interval share;        // of rejected, 95 %
  // More than twice nominal in a test of no effect, beyond chance: the outcome
  // must not alert.
  bool broken = false;
};

// The controls of `rollout`, with one host in two made a fake upgraded one,
// inside its wave. The rollout's upgraded hosts are not used.
Rollout FakeRollout(const Rollout& rollout, uint64_t seed);

// Multiplies what the upgraded hosts counted in their after-window by `ratio`
// (at least 1): each event is doubled, tripled ... with the probability that
// gives that ratio. Times and maxima grow with them.
Rollout Spiked(const Rollout& rollout, double ratio, uint64_t seed);

// By operation and outcome. `ratio` 1 measures false alarms. Asked before each
// split, `stop` (if there is one) ends the test early.
std::vector<SelfTestResult> SelfTest(const Rollout& rollout,
                                     const RolloutRules& rules, double ratio,
                                     uint64_t splits, uint64_t seed,
                                     const std::function<bool()>& stop = {});

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SELF_TEST_H_
