// One look at a kernel pair: from the ledger's evidence to verdicts, with all
// that it takes to make the same ones again.
//
// Pure but for what it reads: the same evidence and inputs give the same
// verdicts, byte for byte.
#ifndef SWAPLOCK_SERVER_JUDGE_EVALUATION_H_
#define SWAPLOCK_SERVER_JUDGE_EVALUATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/verdict/evidence.h"
#include "server/verdict/kernel_pairs.h"
#include "server/verdict/matched_pairs.h"
#include "server/verdict/operation_key.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

// What to judge, and how.
struct EvaluationInput {
  KernelPair pair;
  std::string because;                 // why this pair; not read
  std::optional<int64_t> planned_end;  // day since 1970 UTC
  RolloutRules rules;             // `ended` and q_fixed follow from the day
  int64_t today = 0;              // the last whole day there is
  std::set<std::string> without;  // hosts
};

// A stored look. Days are since 1970 UTC.
struct Evaluation {
  uint64_t id = 0;
  EvaluationInput input;
  int engine = kVerdictEngine;
  int64_t first_day = 0;  // of the rows
  int64_t last_day = 0;
  uint64_t rows_hash = 0;
  bool ended = false;
  uint64_t look = 0;  // of the fixed looks, from 1
  uint64_t hosts_upgraded = 0;
  uint64_t hosts_waiting = 0;
  uint64_t controls = 0;
  std::vector<Holdback> holdback;
  absl::Time judged;
};

// Of an operation and an outcome.
using SubjectKey = std::pair<OperationKey, VerdictOutcome>;
SubjectKey SubjectOf(const VerdictRecord& record);

struct Evaluated {
  Evaluation evaluation;  // without id and time
  std::vector<VerdictRecord> records;
  // Of what is flagged: sentences of those that upgraded hosts no longer show
  // in the 7 days up to `today`.
  std::map<SubjectKey, std::string> went_away;
};

// Whether it is a finding that somebody should act on.
bool Flags(VerdictKind kind);

// A pair of a kernel with itself is judged over time (cohort_drift.h).
// While a rollout goes on, what a fixed look before had found stands until the
// next one.
absl::StatusOr<Evaluated> Evaluate(EvidenceReader* reader,
                                   const EvaluationInput& input);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_EVALUATION_H_
