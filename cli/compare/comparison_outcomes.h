// What a comparison sets side by side: the numbers of each run, with locks
// aligned across kernels. A lock is known here by the operation that takes it:
// devices, algorithms and modes are merged, and the streams that one kernel has
// for both directions and another for each are all "zram read lock" to a read.
//
// Pure functions over plain values.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_OUTCOMES_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_OUTCOMES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/report/printed_number.h"
#include "cli/report/recorded_run.h"
#include "cli/report/run_statistics.h"
#include "common/cell.h"

namespace swaplock {

// Which way is better.
enum class Wanted { kLess, kMore, kNeither };

// Which of a subject's tiers a number is seen by.
enum class Sight { kLatency, kWait, kHold };

struct Outcome {
  absl::string_view metric;  // Metric::name, or one of the comparison's own
  absl::string_view title;   // row in tables: "wait max"
  Unit unit = Unit::kCount;
  Wanted wanted = Wanted::kLess;
  Sight sight = Sight::kLatency;
  bool brief = true;  // in the short form of tables
};
// In the order of a table's rows.
const std::vector<Outcome>& OutcomesOf(Subject::Kind kind);

// The comparison's own metrics: waits or operations over 10 ms per million.
inline constexpr absl::string_view kOver10Ms = "over_10ms_per_million";
inline constexpr absl::string_view kRate = "operations_per_second";
inline constexpr absl::string_view kSlowest = "latency_max_ns";
inline constexpr absl::string_view kContended = "contended_share";

// The numbers of one subject in one run, by Outcome::metric.
struct SubjectNumbers {
  std::set<LockModel> models;  // of the cells that were merged
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;
  uint32_t threads = 0;  // measurement only
  int32_t nice = 0;      // likewise
  std::map<absl::string_view, double> values;

  Tier TierOf(Sight sight) const;
};

// Subjects that counted nothing are left out.
std::map<Subject, SubjectNumbers> AlignedNumbers(const RecordedRun& run);

// The key without device, algorithm and mode, its role the one that all kernels
// have.
CellKey AlignedKey(const CellKey& key);

// "high_priority_read", "zram read", "zram read lock", "zram read pin".
std::string SubjectName(const Subject& subject);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_OUTCOMES_H_
