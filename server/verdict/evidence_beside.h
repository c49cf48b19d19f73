// What stands beside a verdict and explains it: totals weighted by operations,
// the hosts that have most, what changed with the kernel, quantiles, maxima.
#ifndef SWAPLOCK_SERVER_VERDICT_EVIDENCE_BESIDE_H_
#define SWAPLOCK_SERVER_VERDICT_EVIDENCE_BESIDE_H_

#include "server/verdict/comparison.h"
#include "server/verdict/rollout.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

// Fills the descriptive fields of `record` and adds findings; leaves its kind,
// reason and tests alone.
void DescribeBeside(const Rollout& rollout, const Comparison& comparison,
                    const RolloutRules& rules, VerdictRecord* record);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_EVIDENCE_BESIDE_H_
