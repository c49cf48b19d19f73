// The numbers that a recorded run comes to: rates, shares, means, standard
// deviations, quantiles, exceedances and maxima, of operations, of locks, and
// of what the command measured itself. The report prints them, the comparison
// sets those of two variants against each other.
//
// A number that was not measured is absent, never 0.
#ifndef SWAPLOCK_CLI_REPORT_RUN_STATISTICS_H_
#define SWAPLOCK_CLI_REPORT_RUN_STATISTICS_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cli/report/printed_number.h"
#include "cli/report/recorded_run.h"
#include "common/cell.h"
#include "common/run.h"

namespace swaplock {

// What numbers are about.
struct Subject {
  enum class Kind {
    kMeasurement,  // of the command's own; `measurement` names it
    kOperation,    // whole operations, entry to exit; key without role and mode
    kLock,         // holds of and waits for a lock
  };
  Kind kind = Kind::kLock;
  std::string measurement;
  // Without device and algorithm where the run has but one of the subsystem:
  // "zram1" of one run and "zram2" of the next are the same then.
  CellKey key;

  auto Tie() const { return std::tie(kind, measurement, key); }
  bool operator==(const Subject& other) const { return Tie() == other.Tie(); }
  bool operator<(const Subject& other) const { return Tie() < other.Tie(); }
};
absl::string_view Name(Subject::Kind kind);  // "measurement", "operation" ...

// A kind of number.
struct Metric {
  absl::string_view name;   // stable, for programs: "wait_p99_ns"
  absl::string_view part;   // heading in tables: "wait"; "" for the first rows
  absl::string_view title;  // row in tables: "p99"
  Unit unit = Unit::kCount;
};
// All there are, in the order in which tables have them.
const std::vector<Metric>& Metrics();
// Null for a name that is none.
const Metric* FindMetric(absl::string_view name);

// The numbers of one subject in one run.
struct Numbers {
  Subject subject;
  LockModel model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;      // measurement: exact
  uint32_t threads = 0;                        // measurement only
  int32_t nice = 0;                            // likewise
  std::map<absl::string_view, double> values;  // by Metric::name

  std::optional<double> Value(absl::string_view metric) const;
};

// Measurements first, then operations, then locks; each subject once.
std::vector<Numbers> StatisticsOf(const RecordedRun& run);

// Runs that repeat each other: of one name, variant and kernel.
struct RunGroup {
  std::vector<const RecordedRun*> runs;  // at least one

  const RunBegin& begin() const { return runs[0]->begin; }
};
// In the order of their first runs; runs in the order they have.
std::vector<RunGroup> GroupsOf(absl::Span<const RecordedRun> runs);

// The same of several runs: `values` has one value per run that measured it, in
// the order of the runs. Where runs differ in model, it is kUnspecified; the
// tiers are the worst.
struct GroupNumbers {
  Subject subject;
  LockModel model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;
  uint32_t threads = 0;
  int32_t nice = 0;
  size_t runs = 0;        // that have the subject
  size_t group_runs = 0;  // of the group
  std::map<absl::string_view, std::vector<double>> values;
};
std::vector<GroupNumbers> StatisticsOf(const RunGroup& group);

// From the buckets, whose width makes it 2.6 % of the value at least where
// values differ at all; nothing below two values.
std::optional<double> StandardDeviationNs(const Distribution& distribution);

// Nothing where fewer values lie above it than one: of 999 values there is no
// 99.9th percentile. `per_ten_thousand` is 9990 for that one. At most max_ns.
std::optional<double> QuantileNs(const Distribution& distribution,
                                 int per_ten_thousand);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_RUN_STATISTICS_H_
