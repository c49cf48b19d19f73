#include "cli/compare/comparison_outcomes.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr absl::string_view kP9995 = "latency_p9995_ns";
constexpr absl::string_view kSharedShare = "shared_share";
constexpr absl::string_view kExclusiveShare = "exclusive_share";
constexpr absl::string_view kOnCpuTotal = "hold_on_cpu_total_ns";
constexpr absl::string_view kWaitsOver10Ms = "wait_over_10ms";

std::vector<Outcome>* MakeLatencyOutcomes() {
  constexpr auto kNs = Unit::kNanoseconds;
  constexpr auto kLess = Wanted::kLess;
  constexpr auto kLatency = Sight::kLatency;
  return new std::vector<Outcome>{
      {kRate, "operations/s", Unit::kPerSecond, Wanted::kMore, kLatency, true},
      {"latency_mean_ns", "mean", kNs, kLess, kLatency, true},
      {"latency_stddev_ns", "stdev", kNs, kLess, kLatency, true},
      {"latency_p50_ns", "p50", kNs, kLess, kLatency, true},
      {"latency_p90_ns", "p90", kNs, kLess, kLatency, false},
      {"latency_p99_ns", "p99", kNs, kLess, kLatency, true},
      {"latency_p999_ns", "p99.9", kNs, kLess, kLatency, true},
      {kP9995, "p99.95", kNs, kLess, kLatency, true},
      {"latency_p9999_ns", "p99.99", kNs, kLess, kLatency, true},
      {kSlowest, "slowest", kNs, kLess, kLatency, true},
      {"latency_over_1ms", "over 1 ms", Unit::kCount, kLess, kLatency, false},
      {"latency_over_10ms", "over 10 ms", Unit::kCount, kLess, kLatency, true},
      {"latency_over_100ms", "over 100 ms", Unit::kCount, kLess, kLatency,
       false},
      {kOver10Ms, "over 10 ms /1M", Unit::kPerSecond, kLess, kLatency, true},
  };
}

std::vector<Outcome>* MakeLockOutcomes() {
  constexpr auto kNs = Unit::kNanoseconds;
  constexpr auto kCount = Unit::kCount;
  constexpr auto kShare = Unit::kShare;
  constexpr auto kLess = Wanted::kLess;
  constexpr auto kNeither = Wanted::kNeither;
  constexpr auto kWait = Sight::kWait;
  constexpr auto kHold = Sight::kHold;
  return new std::vector<Outcome>{
      {"acquisitions", "acquired", kCount, kNeither, kHold, true},
      {kSharedShare, "shared", kShare, kNeither, kHold, true},
      {kExclusiveShare, "exclusive", kShare, kNeither, kHold, true},
      {"contended", "contended", kCount, kLess, kWait, true},
      {kContended, "contended", kShare, kLess, kWait, true},
      {"inversions", "inversions", kCount, kLess, kWait, true},
      {"wait_total_ns", "wait total", kNs, kLess, kWait, true},
      {"wait_p99_ns", "wait p99", kNs, kLess, kWait, false},
      {"wait_max_ns", "wait max", kNs, kLess, kWait, true},
      {kWaitsOver10Ms, "waits > 10 ms", kCount, kLess, kWait, true},
      {kOver10Ms, "waits >10ms /1M", Unit::kPerSecond, kLess, kWait, false},
      {"hold_mean_ns", "hold mean", kNs, kLess, kHold, false},
      {"hold_p99_ns", "hold p99", kNs, kLess, kHold, false},
      {"hold_max_ns", "hold max", kNs, kLess, kHold, true},
      {"hold_over_10ms", "holds > 10 ms", kCount, kLess, kHold, true},
      {"hold_total_ns", "hold total", kNs, kLess, kHold, true},
      {kOnCpuTotal, "- on-CPU", kNs, kLess, kHold, true},
      {"runnable_total_ns", "- runnable", kNs, kLess, kHold, true},
      {"blocked_total_ns", "- blocked", kNs, kLess, kHold, true},
      {"runnable_max_ns", "runnable max", kNs, kLess, kHold, false},
  };
}

// What the cells of one aligned key have that a merged cell does not.
struct Parts {
  std::set<LockModel> models;
  bool has_shared = false;
  uint64_t shared = 0;  // acquisitions
};

std::map<CellKey, Parts> PartsOf(const RecordedRun& run) {
  std::map<CellKey, Parts> out;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty()) continue;
    Parts& parts = out[AlignedKey(key)];
    parts.models.insert(cell.lock_model);
    if (key.mode != Mode::kShared) continue;
    parts.has_shared = true;
    parts.shared += cell.acquisitions;
  }
  return out;
}

std::map<CellKey, Cell> AlignedCells(const RecordedRun& run) {
  std::map<CellKey, Cell> out;
  for (const auto& [key, cell] : run.cells) {
    if (cell.Empty()) continue;
    const auto [it, added] = out.try_emplace(AlignedKey(key), cell);
    if (added) {
      it->second.key = it->first;
    } else {
      it->second.Merge(cell);
    }
  }
  return out;
}

// Only what the statistics are made of: the rest is as large as a run.
RecordedRun Aligned(const RecordedRun& run) {
  RecordedRun out;
  out.begin = run.begin;
  out.end = run.end;
  out.measured_ns = run.measured_ns;
  out.cells = AlignedCells(run);
  return out;
}

void SetPerMillion(absl::string_view events, absl::string_view operations,
                   SubjectNumbers* numbers) {
  const auto some = numbers->values.find(events);
  const auto all = numbers->values.find(operations);
  if (some == numbers->values.end() || all == numbers->values.end()) return;
  if (all->second > 0) {
    numbers->values[kOver10Ms] = some->second * 1e6 / all->second;
  }
}

void SetP9995(const Distribution& latency, SubjectNumbers* numbers) {
  if (const std::optional<double> ns = QuantileNs(latency, 9995)) {
    numbers->values[kP9995] = *ns;
  }
}

SubjectNumbers FromNumbers(const Numbers& from) {
  SubjectNumbers out;
  out.models = {from.model};
  out.hold_tier = from.hold_tier;
  out.wait_tier = from.wait_tier;
  out.latency_tier = from.latency_tier;
  out.threads = from.threads;
  out.nice = from.nice;
  out.values = from.values;
  return out;
}

void AddToLock(const Cell& cell, const Parts& parts, SubjectNumbers* out) {
  out->models = parts.models;
  SetPerMillion(kWaitsOver10Ms, "acquisitions", out);
  if (!CountsHolds(cell.hold_tier)) return;
  out->values[kOnCpuTotal] = static_cast<double>(cell.on_cpu_ns);
  if (!parts.has_shared || cell.acquisitions == 0) return;
  const double shared = static_cast<double>(parts.shared) /
                        static_cast<double>(cell.acquisitions);
  out->values[kSharedShare] = shared;
  out->values[kExclusiveShare] = 1 - shared;
}

// An operation that takes no lock never waits for one: that it has no cell of
// a lock is not for want of a probe.
SubjectNumbers LockFree(Tier tier) {
  SubjectNumbers out;
  out.models = {LockModel::kNone};
  out.wait_tier = tier;
  for (const absl::string_view metric :
       {absl::string_view("contended"), kContended,
        absl::string_view("inversions"), absl::string_view("wait_total_ns"),
        absl::string_view("wait_max_ns"), kWaitsOver10Ms, kOver10Ms}) {
    out.values[metric] = 0;
  }
  return out;
}

}  // namespace

Tier SubjectNumbers::TierOf(Sight sight) const {
  switch (sight) {
    case Sight::kLatency:
      return latency_tier;
    case Sight::kWait:
      return wait_tier;
    case Sight::kHold:
      return hold_tier;
  }
  return Tier::kUnspecified;
}

const std::vector<Outcome>& OutcomesOf(Subject::Kind kind) {
  static const auto* latency = MakeLatencyOutcomes();
  static const auto* lock = MakeLockOutcomes();
  return kind == Subject::Kind::kLock ? *lock : *latency;
}

CellKey AlignedKey(const CellKey& key) {
  CellKey out;
  out.subsystem = key.subsystem;
  out.operation = key.operation;
  out.role =
      key.role == Role::kCompressStream || key.role == Role::kDecompressStream
          ? Role::kStream
          : key.role;
  return out;
}

std::map<Subject, SubjectNumbers> AlignedNumbers(const RecordedRun& run) {
  const RecordedRun aligned = Aligned(run);
  const std::map<CellKey, Parts> parts = PartsOf(run);
  std::map<Subject, SubjectNumbers> out;
  for (const Numbers& numbers : StatisticsOf(aligned)) {
    const Subject& subject = numbers.subject;
    SubjectNumbers& to = out[subject] = FromNumbers(numbers);
    if (subject.kind == Subject::Kind::kMeasurement) continue;
    const auto found = aligned.cells.find(subject.key);
    if (found == aligned.cells.end()) continue;
    const Cell& cell = found->second;
    if (subject.kind == Subject::Kind::kLock) {
      AddToLock(cell, parts.at(subject.key), &to);
      continue;
    }
    to.models = parts.at(subject.key).models;
    SetPerMillion("latency_over_10ms", "operations", &to);
    SetP9995(cell.latency, &to);
    if (to.models != std::set<LockModel>{LockModel::kNone}) continue;
    Subject lock = subject;
    lock.kind = Subject::Kind::kLock;
    lock.key.role = Role::kStream;
    if (aligned.cells.count(lock.key) == 0) {
      out[lock] = LockFree(to.latency_tier);
    }
  }
  if (!run.end.has_value()) return out;
  std::map<std::string, Measurement> measurements;
  for (const Measurement& one : run.end->result.measurements) {
    measurements[one.name].Merge(one);
  }
  for (const auto& [name, measurement] : measurements) {
    Subject subject;
    subject.kind = Subject::Kind::kMeasurement;
    subject.measurement = name;
    const auto it = out.find(subject);
    if (it == out.end()) continue;
    if (measurement.latency.Count() == 0) {
      out.erase(it);
      continue;
    }
    SetPerMillion("latency_over_10ms", "operations", &it->second);
    SetP9995(measurement.latency, &it->second);
  }
  return out;
}

std::string SubjectName(const Subject& subject) {
  if (subject.kind == Subject::Kind::kMeasurement) return subject.measurement;
  const CellKey& key = subject.key;
  std::string name(Name(key.subsystem));
  if (key.operation != Operation::kUnspecified) {
    absl::StrAppend(&name, " ", Name(key.operation));
  }
  if (subject.kind == Subject::Kind::kOperation) return name;
  return absl::StrCat(name, " ",
                      key.role == Role::kStream ? "lock" : Name(key.role));
}

}  // namespace swaplock
