// What a rollout says of two kernel builds: one verdict per operation and
// primary outcome, over all hosts that were upgraded and those that were not.
//
// Pure: the same rows and rules give the same verdicts, byte for byte, on every
// machine; there is no clock and no randomness but seeds made from the names of
// the builds, operations and outcomes.
#ifndef SWAPLOCK_SERVER_VERDICT_JUDGE_ROLLOUT_H_
#define SWAPLOCK_SERVER_VERDICT_JUDGE_ROLLOUT_H_

#include <vector>

#include "server/verdict/matched_pairs.h"
#include "server/verdict/rollout.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

struct RolloutVerdicts {
  std::vector<VerdictRecord> verdicts;  // by operation, then by outcome
  // Of the operation with most hosts, while the rollout runs.
  std::vector<Holdback> holdback;
};

// The family of a pair is every operation that its hosts have and measure, by
// the three primary outcomes, in both directions.
RolloutVerdicts JudgeRollout(const Rollout& rollout, const RolloutRules& rules);

// A regression or improvement of the fixed look stands when yesterday's
// evaluation of the same rollout said the same; others become INCONCLUSIVE and
// say so. Sequential alarms stand at once.
void Confirm(const std::vector<VerdictRecord>& yesterday,
             std::vector<VerdictRecord>* today);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_JUDGE_ROLLOUT_H_
