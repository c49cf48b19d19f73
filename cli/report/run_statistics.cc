#include "cli/report/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

struct Quantile {
  int per_ten_thousand;
  absl::string_view name;
  absl::string_view title;
};
constexpr Quantile kQuantiles[] = {{5000, "p50", "p50"},
                                   {9000, "p90", "p90"},
                                   {9900, "p99", "p99"},
                                   {9990, "p999", "p99.9"},
                                   {9999, "p9999", "p99.99"}};

std::vector<Metric>* MakeMetrics() {
  auto* all = new std::vector<Metric>{
      {"operations", "", "operations", Unit::kCount},
      {"operations_per_second", "", "operations/s", Unit::kPerSecond},
      {"acquisitions", "", "acquisitions", Unit::kCount},
      {"acquisitions_per_second", "", "acquisitions/s", Unit::kPerSecond},
      {"mode_share", "", "share of this mode", Unit::kShare},
      {"contended", "", "contended", Unit::kCount},
      {"contended_share", "", "contended, share", Unit::kShare},
      {"inversions", "", "inversions", Unit::kCount},
      {"longest_stall_ns", "", "stall of one hold, max", Unit::kNanoseconds},
      {"migrations", "", "migrations in holds", Unit::kCount},
  };
  const auto add = [all](absl::string_view part, absl::string_view heading,
                         absl::string_view name, absl::string_view title,
                         Unit unit) {
    // For the life of the program, like the metrics.
    const auto* whole = new std::string(absl::StrCat(part, "_", name));
    all->push_back({*whole, heading, title, unit});
  };
  const auto add_distribution = [&add](absl::string_view part,
                                       absl::string_view heading) {
    add(part, heading, "total_ns", "total", Unit::kNanoseconds);
    add(part, heading, "mean_ns", "mean", Unit::kNanoseconds);
    add(part, heading, "stddev_ns", "stdev", Unit::kNanoseconds);
    for (const Quantile& q : kQuantiles) {
      add(part, heading, absl::StrCat(q.name, "_ns"), q.title,
          Unit::kNanoseconds);
    }
    add(part, heading, "max_ns", "max", Unit::kNanoseconds);
    add(part, heading, "over_1ms", "over 1 ms", Unit::kCount);
    add(part, heading, "over_10ms", "over 10 ms", Unit::kCount);
    add(part, heading, "over_100ms", "over 100 ms", Unit::kCount);
  };
  add_distribution("latency", "latency");
  add_distribution("wait", "wait");
  add("wait", "wait", "owner_runnable_share", "owner runnable, share",
      Unit::kShare);
  add("hold", "hold", "timed", "timed", Unit::kCount);
  add_distribution("hold", "hold");
  constexpr absl::string_view kParts = "of all hold time";
  add("hold", kParts, "on_cpu_share", "on-CPU", Unit::kShare);
  add("hold", kParts, "runnable_share", "runnable", Unit::kShare);
  add("hold", kParts, "preempted_share", "- preempted", Unit::kShare);
  add("hold", kParts, "throttled_share", "  - by cpu.max", Unit::kShare);
  add("hold", kParts, "woken_share", "- woken", Unit::kShare);
  add("hold", kParts, "blocked_share", "blocked", Unit::kShare);
  add("hold", kParts, "unknown_share", "unknown", Unit::kShare);
  add("runnable", "runnable part", "count", "holds with one", Unit::kCount);
  add_distribution("runnable", "runnable part");
  add("blocked", "blocked part", "count", "holds with one", Unit::kCount);
  add_distribution("blocked", "blocked part");
  return all;
}

// Fills Numbers::values by names that Metrics() has.
class Values {
 public:
  explicit Values(Numbers* numbers) : values_(&numbers->values) {}

  void Set(absl::string_view name, double value) {
    if (const Metric* metric = FindMetric(name)) {
      (*values_)[metric->name] = value;
    }
  }
  // Nothing for a part of no whole.
  void SetShare(absl::string_view name, uint64_t part, uint64_t whole) {
    if (whole == 0) return;
    Set(name, static_cast<double>(part) / static_cast<double>(whole));
  }
  // Of something that need not happen, a sum and a maximum of 0 are numbers.
  void SetDistribution(absl::string_view part, const Distribution& values,
                       std::optional<double> exact_stddev = std::nullopt) {
    const auto set = [this, part](absl::string_view name,
                                  std::optional<double> value) {
      if (value.has_value()) Set(absl::StrCat(part, "_", name), *value);
    };
    const bool any = values.Count() > 0;
    set("total_ns", static_cast<double>(values.sum_ns));
    if (any) set("mean_ns", values.MeanNs());
    set("stddev_ns",
        exact_stddev.has_value() ? exact_stddev : StandardDeviationNs(values));
    for (const Quantile& q : kQuantiles) {
      set(absl::StrCat(q.name, "_ns"), QuantileNs(values, q.per_ten_thousand));
    }
    set("max_ns", static_cast<double>(values.max_ns));
    set("over_1ms", static_cast<double>(values.over_1ms));
    set("over_10ms", static_cast<double>(values.over_10ms));
    set("over_100ms", static_cast<double>(values.over_100ms));
  }

 private:
  std::map<absl::string_view, double>* values_;
};

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// How long the command's own measurements took: as it says, else as long as it
// ran itself, which bounds what it says when it was ended early.
double MeasurementSeconds(const RecordedRun& run) {
  const double whole = Seconds(run.duration_ns());
  const auto& facts = run.end->result.facts;
  for (const char* name : {"ran_seconds", "seconds"}) {
    double seconds = 0;
    const auto said = facts.find(name);
    if (said != facts.end() && absl::SimpleAtod(said->second, &seconds) &&
        seconds > 0) {  // no NaN is
      return whole > 0 ? std::min(seconds, whole) : seconds;
    }
  }
  return whole;
}

std::optional<double> ExactDeviationNs(const Measurement& measurement) {
  const auto count = static_cast<double>(measurement.latency.Count());
  if (count < 2 || !(measurement.sum_of_squares_ns2 > 0)) return std::nullopt;
  const double mean = measurement.latency.MeanNs();
  const double variance = measurement.sum_of_squares_ns2 / count - mean * mean;
  return std::sqrt(std::max(0.0, variance));
}

void SetOperations(uint64_t count, double seconds, Values* values) {
  values->Set("operations", static_cast<double>(count));
  if (seconds > 0) {
    values->Set("operations_per_second", static_cast<double>(count) / seconds);
  }
}

Numbers NumbersOf(const Measurement& measurement, double seconds) {
  Numbers numbers;
  numbers.subject.kind = Subject::Kind::kMeasurement;
  numbers.subject.measurement = measurement.name;
  numbers.latency_tier = Tier::kExact;
  numbers.threads = measurement.threads;
  numbers.nice = measurement.nice;
  Values values(&numbers);
  SetOperations(measurement.latency.Count(), seconds, &values);
  if (measurement.latency.Count() > 0) {
    values.SetDistribution("latency", measurement.latency,
                           ExactDeviationNs(measurement));
  }
  return numbers;
}

void SetWaits(const Cell& cell, Values* values) {
  values->Set("contended", static_cast<double>(cell.contended));
  values->Set("inversions", static_cast<double>(cell.inversions));
  values->SetDistribution("wait", cell.wait);
  values->SetShare("wait_owner_runnable_share", cell.wait_owner_runnable_ns,
                   cell.wait.sum_ns);
}

void SetOffCpu(const Cell& cell, Values* values) {
  values->Set("runnable_count", static_cast<double>(cell.runnable.Count()));
  values->SetDistribution("runnable", cell.runnable);
  values->Set("blocked_count", static_cast<double>(cell.blocked.Count()));
  values->SetDistribution("blocked", cell.blocked);
}

void SetHolds(const Cell& cell, double seconds, Values* values) {
  values->Set("acquisitions", static_cast<double>(cell.acquisitions));
  if (seconds > 0) {
    values->Set("acquisitions_per_second",
                static_cast<double>(cell.acquisitions) / seconds);
  }
  if (cell.hold.Count() != cell.acquisitions) {
    values->Set("hold_timed", static_cast<double>(cell.hold.Count()));
  }
  if (cell.hold.Count() > 0) values->SetDistribution("hold", cell.hold);
  const uint64_t all = cell.hold.sum_ns;
  values->SetShare("hold_on_cpu_share", cell.on_cpu_ns, all);
  values->SetShare("hold_runnable_share", cell.runnable.sum_ns, all);
  values->SetShare("hold_blocked_share", cell.blocked.sum_ns, all);
  values->SetShare("hold_unknown_share", cell.unknown_ns, all);
  if (!MeasuresSplit(cell)) return;
  values->SetShare("hold_preempted_share", cell.preempted_ns, all);
  values->SetShare("hold_throttled_share", cell.throttled_ns, all);
  values->SetShare("hold_woken_share", cell.woken_ns, all);
  values->Set("migrations", static_cast<double>(cell.migrations));
}

Numbers NumbersOf(const CellKey& key, const Cell& cell, double seconds) {
  Numbers numbers;
  numbers.subject.key = key;
  numbers.model = cell.lock_model;
  numbers.hold_tier = cell.hold_tier;
  numbers.wait_tier = cell.wait_tier;
  numbers.latency_tier = cell.latency_tier;
  Values values(&numbers);
  if (IsOperation(cell)) {
    numbers.subject.kind = Subject::Kind::kOperation;
    SetOperations(cell.latency.Count(), seconds, &values);
    if (cell.latency.Count() > 0) {
      values.SetDistribution("latency", cell.latency);
    }
    return numbers;
  }
  numbers.subject.kind = Subject::Kind::kLock;
  if (cell.wait_tier != Tier::kUnspecified) SetWaits(cell, &values);
  if (CountsHolds(cell.hold_tier)) SetHolds(cell, seconds, &values);
  if (CountsHolds(cell.hold_tier) || cell.hold_tier == Tier::kOwnerProbe) {
    SetOffCpu(cell, &values);
  }
  if (CountsHolds(cell.hold_tier) && cell.wait_tier != Tier::kUnspecified) {
    values.SetShare("contended_share", cell.contended, cell.acquisitions);
  }
  return numbers;
}

// The keys that the cells are shown under: without the device and the algorithm
// of a subsystem that has one of each.
std::map<CellKey, CellKey> ShownKeys(const RecordedRun& run) {
  std::map<Subsystem, std::set<std::string>> devices;
  std::map<Subsystem, std::set<std::string>> algorithms;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty()) continue;
    if (!key.device.empty()) devices[key.subsystem].insert(key.device);
    if (!key.algorithm.empty()) algorithms[key.subsystem].insert(key.algorithm);
  }
  std::map<CellKey, CellKey> shown;
  for (const auto& [key, cell] : run.cells) {
    CellKey& to = shown[key] = key;
    if (devices[key.subsystem].size() <= 1) to.device.clear();
    if (algorithms[key.subsystem].size() <= 1) to.algorithm.clear();
  }
  return shown;
}

void SetModeShares(std::vector<Numbers>* all) {
  const auto whole_of = [](const Numbers& numbers) {
    CellKey key = numbers.subject.key;
    key.mode = Mode::kUnspecified;
    return key;
  };
  std::map<CellKey, double> acquired;
  std::map<CellKey, bool> several;  // modes that the lock can be taken in
  for (const Numbers& numbers : *all) {
    if (numbers.subject.kind != Subject::Kind::kLock) continue;
    const CellKey key = whole_of(numbers);
    acquired[key] += numbers.Value("acquisitions").value_or(0);
    several[key] |= numbers.subject.key.mode == Mode::kShared;
  }
  for (Numbers& numbers : *all) {
    if (numbers.subject.kind != Subject::Kind::kLock) continue;
    const CellKey key = whole_of(numbers);
    const std::optional<double> own = numbers.Value("acquisitions");
    if (!several[key] || !own.has_value() || acquired[key] <= 0) continue;
    Values(&numbers).Set("mode_share", *own / acquired[key]);
  }
}

// The longest stall that a hold of each cell made.
std::map<CellKey, uint64_t> LongestStalls(
    const RecordedRun& run, const std::map<CellKey, CellKey>& shown) {
  std::map<CellKey, uint64_t> stalls;
  for (const RecordedHold& hold : run.longest) {
    const auto key = shown.find(hold.key);
    if (key == shown.end()) continue;
    uint64_t& stall = stalls[key->second];
    stall = std::max(stall, hold.hold.stall_ns);
  }
  return stalls;
}

Tier Worse(Tier a, Tier b) {
  if (a == Tier::kUnspecified || b == Tier::kUnspecified) {
    return Tier::kUnspecified;
  }
  return std::max(a, b);
}

}  // namespace

absl::string_view Name(Subject::Kind kind) {
  switch (kind) {
    case Subject::Kind::kMeasurement:
      return "measurement";
    case Subject::Kind::kOperation:
      return "operation";
    case Subject::Kind::kLock:
      return "lock";
  }
  return "";
}

const std::vector<Metric>& Metrics() {
  static const std::vector<Metric>* all = MakeMetrics();
  return *all;
}

const Metric* FindMetric(absl::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::map<absl::string_view, const Metric*>();
    for (const Metric& metric : Metrics()) map->emplace(metric.name, &metric);
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

std::optional<double> Numbers::Value(absl::string_view metric) const {
  const auto found = values.find(metric);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::vector<Numbers> StatisticsOf(const RecordedRun& run) {
  std::vector<Numbers> all;
  if (run.end.has_value()) {
    std::map<std::string, Measurement> by_name;
    for (const Measurement& one : run.end->result.measurements) {
      const auto [it, added] = by_name.try_emplace(one.name, one);
      if (!added) it->second.Merge(one);
    }
    for (const auto& [name, one] : by_name) {
      all.push_back(NumbersOf(one, MeasurementSeconds(run)));
    }
  }
  const std::map<CellKey, CellKey> shown = ShownKeys(run);
  std::map<CellKey, Cell> cells;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty()) continue;  // nobody used it
    const auto [it, added] = cells.try_emplace(shown.at(key), cell);
    if (!added) it->second.Merge(cell);
  }
  const std::map<CellKey, uint64_t> stalls = LongestStalls(run, shown);
  for (const auto& [key, cell] : cells) {
    Numbers numbers = NumbersOf(key, cell, Seconds(run.measured_ns));
    if (const auto stall = stalls.find(key); stall != stalls.end()) {
      Values(&numbers).Set("longest_stall_ns",
                           static_cast<double>(stall->second));
    }
    all.push_back(std::move(numbers));
  }
  SetModeShares(&all);
  std::sort(all.begin(), all.end(), [](const Numbers& a, const Numbers& b) {
    return a.subject < b.subject;
  });
  return all;
}

std::vector<RunGroup> GroupsOf(absl::Span<const RecordedRun> runs) {
  std::vector<RunGroup> groups;
  const auto same = [](const RunBegin& a, const RunBegin& b) {
    return std::tie(a.name, a.variant, a.environment.kernel_release) ==
           std::tie(b.name, b.variant, b.environment.kernel_release);
  };
  for (const RecordedRun& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&run, &same](const RunGroup& one) {
                                      return same(one.begin(), run.begin);
                                    });
    if (group == groups.end()) {
      groups.push_back({{&run}});
    } else {
      group->runs.push_back(&run);
    }
  }
  return groups;
}

std::vector<GroupNumbers> StatisticsOf(const RunGroup& group) {
  std::map<Subject, GroupNumbers> all;
  for (const RecordedRun* run : group.runs) {
    for (const Numbers& one : StatisticsOf(*run)) {
      GroupNumbers& to = all[one.subject];
      if (to.runs == 0) {
        to.group_runs = group.runs.size();
        to.subject = one.subject;
        to.model = one.model;
        to.hold_tier = one.hold_tier;
        to.wait_tier = one.wait_tier;
        to.latency_tier = one.latency_tier;
        to.threads = one.threads;
        to.nice = one.nice;
      } else {
        if (to.model != one.model) to.model = LockModel::kUnspecified;
        to.hold_tier = Worse(to.hold_tier, one.hold_tier);
        to.wait_tier = Worse(to.wait_tier, one.wait_tier);
        to.latency_tier = Worse(to.latency_tier, one.latency_tier);
      }
      ++to.runs;
      for (const auto& [name, value] : one.values) {
        to.values[name].push_back(value);
      }
    }
  }
  std::vector<GroupNumbers> out;
  out.reserve(all.size());
  for (auto& [subject, numbers] : all) out.push_back(std::move(numbers));
  return out;
}

std::optional<double> StandardDeviationNs(const Distribution& distribution) {
  const auto count = static_cast<double>(distribution.Count());
  if (count < 2) return std::nullopt;
  // Values are taken to lie evenly in the logarithm within their bucket: the
  // mean over (a, b] is (b - a) / log(b / a) then, that of the squares
  // (b^2 - a^2) / (2 log(b / a)).
  double sum = 0;
  double squares = 0;
  const auto max = static_cast<double>(distribution.max_ns);
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    const auto here = static_cast<double>(distribution.buckets.bucket(i));
    if (here == 0) continue;
    const double lower = std::max(1.0, Histogram::LowerBoundNs(i));
    const double upper = std::min(Histogram::UpperBoundNs(i), max);
    if (upper <= lower) {
      sum += here * upper;
      squares += here * upper * upper;
      continue;
    }
    const double log = std::log(upper / lower);
    sum += here * (upper - lower) / log;
    squares += here * (upper * upper - lower * lower) / (2 * log);
  }
  const double mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

std::optional<double> QuantileNs(const Distribution& distribution,
                                 int per_ten_thousand) {
  const auto above = static_cast<uint64_t>(10'000 - per_ten_thousand);
  if (distribution.Count() * above < 10'000) return std::nullopt;
  return distribution.QuantileNs(per_ten_thousand / 10'000.0);
}

}  // namespace swaplock
