// Design D: one kernel's hosts over time. Finds the days on which what they
// count changed its level although the kernel stayed: another build of the same
// release, a setting, other work, a slow leak.
//
// Days, work and kernel cannot be told apart here, so what it finds is never
// more than a suspicion.
#ifndef SWAPLOCK_SERVER_VERDICT_COHORT_DRIFT_H_
#define SWAPLOCK_SERVER_VERDICT_COHORT_DRIFT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/verdict/change_points.h"
#include "server/verdict/evidence.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

struct CohortDrift {
  int64_t first_day = 0;  // of the rows, since 1970 UTC
  int64_t last_day = 0;
  uint64_t hosts = 0;
  uint64_t rows_hash = 0;
  // By operation, then by outcome, of those that could be tested: SUSPECT with
  // the latest change, or INCONCLUSIVE where no change was found. kernel_base
  // and kernel_new are the kernel.
  std::vector<VerdictRecord> records;
};

// Of the 42 days up to `today`, or of the last 28 or 21 where fewer than
// rules.min_hosts hosts ran the kernel for so long: of those that did on 8 days
// in 10, the 200 with the lowest hashes. A day's level is the centre of its
// hosts' log rates, each about that host's own mean, so that hosts that come
// and go do not move it. Days of a boot and the day after are left out.
//
// Reads one host after the other; the reader's errors are given back.
absl::StatusOr<CohortDrift> JudgeCohort(EvidenceReader* reader,
                                        const std::string& kernel,
                                        int64_t today,
                                        const std::set<std::string>& without,
                                        const RolloutRules& rules);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_COHORT_DRIFT_H_
