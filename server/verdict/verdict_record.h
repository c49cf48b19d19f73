// One verdict with all that it rests on: enough to recompute it, to doubt it
// and to print it. NaN: no such number, never 0.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_RECORD_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_RECORD_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/cell.h"
#include "server/verdict/quantile_ratio.h"
#include "server/verdict/return_level.h"
#include "server/verdict/rollout.h"
#include "server/verdict/stratified_rank_test.h"
#include "server/verdict/verdict_kind.h"

namespace swaplock {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// What is compared. The first three make the family that can be flagged; the
// others are shown beside them.
enum class VerdictOutcome {
  kWaitsOver10ms,  // per operation
  kRunnable,   // milliseconds of holds spent runnable off-CPU, per operation
  kContended,  // per operation
  kWaitsOver1ms,
  kWaitsOver100ms,
  kWaitsOver10msPerHour,  // what users feel when throughput changes
  kSlowOperations,        // over 10 ms from entry to exit: the referee
};

// "waits_over_10ms_per_million" ...
absl::string_view Name(VerdictOutcome outcome);
// "waits over 10 ms per operation" ...
absl::string_view Phrase(VerdictOutcome outcome);
absl::string_view Name(Design design);

struct Effect {
  double ratio = kNoNumber;  // new over base
  double lower = kNoNumber;  // 90 % interval
  double upper = kNoNumber;
};

struct ArmTotals {
  uint64_t hosts = 0;  // that the test rests on
  double hours_before = 0;
  double hours_after = 0;
  double operations_before = 0;
  double operations_after = 0;
  double events_before = 0;
  double events_after = 0;
  // Of waits over 10 ms: at least so many episodes, which are waits on one lock
  // that overlap; 0: not known.
  double episodes_before = 0;
  double episodes_after = 0;
  // Hosts that the test does not rest on, and why.
  uint64_t left_out_measured_otherwise = 0;
  uint64_t left_out_few_operations = 0;
  uint64_t left_out_other_workload = 0;  // operations changed fourfold
  uint64_t left_out_not_rebooted = 0;    // controls of another uptime
  uint64_t vanished = 0;
};

struct Gate {
  std::string name;
  bool passed = true;
  std::string value;  // "0.02 % of events lost by upgraded hosts, ..."
};

struct StratumResult {
  std::string name;
  uint64_t treated = 0;
  uint64_t controls = 0;
  Effect effect;
};

struct TopHost {
  std::string host_id;
  Arm arm = Arm::kTreated;
  double events_after = 0;
  double share = 0;  // of its arm's events after
  double ratio = 1;  // of its own rates, after over before
};

struct SequentialEvidence {
  uint64_t pairs = 0;
  uint64_t worse = 0;  // pairs in which the upgraded host is, beyond the margin
  uint64_t better = 0;
  double log_e_worse = 0;  // natural logarithm, now
  double log_e_better = 0;
  double p_worse = 1;  // 1 / largest e so far
  double p_better = 1;
  std::optional<Direction> alarm;  // after correction for the family
  int64_t alarm_day = 0;           // since 1970 UTC; of the first alarm
};

struct QuantileChange {
  double quantile = 0;
  QuantileRatio treated;   // after over before
  QuantileRatio controls;  // over the same days
};

// An outcome outside the family: shown, never flagged alone.
struct SecondaryResult {
  VerdictOutcome outcome = VerdictOutcome::kWaitsOver1ms;
  double p_worse = kNoNumber;
  double p_better = kNoNumber;
  Effect effect;
};

// When one group of hosts changed its level (Design::kChangePoint).
struct ChangeDays {
  int64_t day = 0;    // the first of the new level, since 1970 UTC
  int64_t first = 0;  // where it may lie
  int64_t last = 0;
};

struct VerdictRecord {
  std::string kernel_base;
  std::string kernel_new;
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;
  VerdictOutcome outcome = VerdictOutcome::kWaitsOver10ms;
  Design design = Design::kBeforeAfterWithControls;

  VerdictKind kind = VerdictKind::kUnspecified;
  std::string sentence;  // the verdict in words
  std::string reason;    // why it is not more certain; empty if it is
  std::vector<std::string> findings;  // sentences worth reading besides

  ArmTotals treated;
  ArmTotals controls;
  std::vector<Gate> gates;

  // The fixed look; NaN when no test was made.
  double p_worse = kNoNumber;
  double p_better = kNoNumber;
  double adjusted_p = kNoNumber;  // of the lesser one, over the family
  bool p_exact = false;
  double smallest_p = 1;  // one-sided, that these numbers of hosts could give
  uint64_t family = 0;    // hypotheses of the kernel pair
  Effect effect;          // of the typical host; decides
  Effect fleet;           // operations weighted; interval from 100 hosts an arm
  double p_without_one_host = kNoNumber;

  SequentialEvidence sequential;

  // With these hosts, a true ratio of this much is found 4 times in 5.
  double detectable_ratio = kNoNumber;
  uint64_t hosts_needed = 0;  // per arm, for a ratio of 1.5; 0: unknown

  std::vector<StratumResult> strata;
  double heterogeneity_q = kNoNumber;   // Cochran
  double heterogeneity_i2 = kNoNumber;  // share of it beyond chance
  std::vector<TopHost> top_hosts;

  std::vector<std::string> builds_before;  // kernel builds, sorted
  std::vector<std::string> builds_after;
  std::vector<std::string> co_changes;
  std::string lock_model_base;  // of the upgraded hosts
  std::string lock_model_new;
  // Share of hold time that the holder was runnable off-CPU, upgraded hosts: of
  // the operation for kRunnable, else of all that share the subsystem's locks.
  double runnable_share_before = kNoNumber;
  double runnable_share_after = kNoNumber;

  std::optional<ChangeDays> change;

  // Beside verdicts on waits over 10 ms.
  std::vector<SecondaryResult> secondary;
  std::vector<QuantileChange> quantiles;
  std::optional<ReturnLevel> longest_treated;
  std::optional<ReturnLevel> longest_controls;

  uint64_t seed = 0;
};

// Engine version, part of a stored verdict: a change of the numbers changes it.
inline constexpr int kVerdictEngine = 3;

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_RECORD_H_
