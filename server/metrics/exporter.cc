#include "server/metrics/exporter.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "common/cell.h"
#include "common/version.h"
#include "server/admission/admit.h"
#include "server/admission/cardinality.h"
#include "server/metrics/cell_series.h"
#include "server/metrics/kernel_label.h"
#include "server/metrics/metric_names.h"
#include "server/metrics/process_metrics.h"
#include "server/metrics/verdict_series.h"
#include "server/web/hold_link.h"

namespace swaplock {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Labels = std::vector<ClientMetric::Label>;

// Agents of all versions together have some dozens.
constexpr size_t kMaxProbeNames = 256;

// With series of their own.
constexpr size_t kTopHolds = 5;

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }
double Seconds(absl::Duration d) { return absl::ToDoubleSeconds(d); }

// The upper edges of exported histograms. An edge that is a power of two is a
// boundary of the buckets, and the others come from the counters of
// exceedances: every cumulative count is exact.
struct Edge {
  double seconds;
  int last_bucket;                      // or -1 and
  uint64_t Distribution::*exceedances;  // the counter of values above it
};

constexpr Edge PowerOfTwo(int exponent) {
  return {static_cast<double>(uint64_t{1} << exponent) / 1e9, exponent * 8 - 1,
          nullptr};
}

constexpr Edge kEdges[] = {
    PowerOfTwo(10), PowerOfTwo(12),
    PowerOfTwo(14), PowerOfTwo(16),
    PowerOfTwo(18), {0.001, -1, &Distribution::over_1ms},
    PowerOfTwo(22), {0.01, -1, &Distribution::over_10ms},
    PowerOfTwo(25), {0.1, -1, &Distribution::over_100ms},
    PowerOfTwo(28), PowerOfTwo(30),
    PowerOfTwo(33), PowerOfTwo(37),
};

ClientMetric::Histogram HistogramOf(const Distribution& d) {
  ClientMetric::Histogram out;
  out.sample_count = d.Count();
  out.sample_sum = Seconds(d.sum_ns);
  uint64_t cumulative = 0;  // of buckets below `next`
  int next = Histogram::kUnderflowIndex;
  uint64_t previous = 0;
  for (const Edge& edge : kEdges) {
    uint64_t at_most = 0;
    if (edge.exceedances != nullptr) {
      at_most =
          out.sample_count - std::min(out.sample_count, d.*edge.exceedances);
    } else {
      for (; next <= edge.last_bucket; ++next) {
        cumulative += d.buckets.bucket(next);
      }
      at_most = cumulative;
    }
    // A host whose exceedances contradict its buckets must not make a
    // histogram that decreases.
    previous = std::max(previous, at_most);
    out.bucket.push_back({previous, edge.seconds});
  }
  return out;
}

// Families in the making, kept in the order of their first use.
class Families {
 public:
  void Counter(const MetricName& name, Labels labels, double value) {
    Add(name, MetricType::Counter, std::move(labels)).counter.value = value;
  }
  void Gauge(const MetricName& name, Labels labels, double value) {
    Add(name, MetricType::Gauge, std::move(labels)).gauge.value = value;
  }
  void Histogram(const MetricName& name, Labels labels,
                 const Distribution& distribution) {
    Add(name, MetricType::Histogram, std::move(labels)).histogram =
        HistogramOf(distribution);
  }
  void Summary(const MetricName& name, uint64_t count, double sum) {
    ClientMetric& metric = Add(name, MetricType::Summary, {});
    metric.summary.sample_count = count;
    metric.summary.sample_sum = sum;
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  ClientMetric& Add(const MetricName& name, MetricType type, Labels labels) {
    const auto [it, is_new] = index_.emplace(name.name, families_.size());
    if (is_new) {
      families_.emplace_back();
      families_.back().name = name.name;
      families_.back().help = name.help;
      families_.back().type = type;
    }
    MetricFamily& family = families_[it->second];
    family.metric.emplace_back();
    family.metric.back().label = std::move(labels);
    return family.metric.back();
  }

  std::vector<MetricFamily> families_;
  std::map<std::string, size_t> index_;
};

Labels CellLabels(const std::string& kernel, const std::string& preempt,
                  const CellKey& key) {
  return {{"kernel", kernel},
          {"preempt", preempt},
          {"subsystem", std::string(Name(key.subsystem))},
          {"op", std::string(Name(key.operation))},
          {"role", std::string(Name(key.role))},
          {"mode", std::string(Name(key.mode))},
          {"algorithm", key.algorithm}};
}

Labels With(Labels labels, const char* name, absl::string_view value) {
  labels.push_back({name, std::string(value)});
  return labels;
}

void AddHolds(const Labels& labels, const Series& series, Families* out) {
  const Cell& cell = series.cell;
  out->Counter(metric::kAcquisitions, labels,
               static_cast<double>(cell.acquisitions));
  out->Histogram(metric::kHold, labels, cell.hold);
  out->Histogram(metric::kHoldRunnable, labels, cell.runnable);
  out->Counter(metric::kHoldOnCpu, labels, Seconds(cell.on_cpu_ns));
  out->Counter(metric::kHoldBlocked, labels, Seconds(cell.blocked.sum_ns));
  out->Counter(metric::kHoldUnknown, labels, Seconds(cell.unknown_ns));
  if (MeasuresSplit(cell)) {
    out->Counter(metric::kHoldPreempted, labels, Seconds(cell.preempted_ns));
    out->Counter(metric::kHoldWoken, labels, Seconds(cell.woken_ns));
    out->Counter(metric::kHoldThrottled, labels, Seconds(cell.throttled_ns));
    out->Counter(metric::kHolderMigrations, labels,
                 static_cast<double>(cell.migrations));
  }
  out->Gauge(metric::kLongestHold, labels, Seconds(series.longest.hold_ns));
  if (series.longest.hold_runnable_ns.has_value()) {
    out->Gauge(metric::kLongestHoldRunnable, labels,
               Seconds(*series.longest.hold_runnable_ns));
  }
}

void AddWaits(const Labels& labels, const Series& series, Families* out) {
  const Cell& cell = series.cell;
  out->Counter(metric::kContended, labels, static_cast<double>(cell.contended));
  out->Histogram(metric::kWait, labels, cell.wait);
  out->Gauge(metric::kLongestWait, labels, Seconds(series.longest.wait_ns));
  // Waits none of which saw an owner: this kernel's lock does not tell it.
  if (cell.contended > 0 && cell.waits_owner_running == 0 &&
      cell.waits_owner_runnable == 0 && cell.waits_owner_blocked == 0) {
    return;
  }
  const struct {
    const char* state;
    uint64_t waits;
  } kStates[] = {{"running", cell.waits_owner_running},
                 {"runnable", cell.waits_owner_runnable},
                 {"blocked", cell.waits_owner_blocked}};
  for (const auto& [state, waits] : kStates) {
    out->Counter(metric::kWaitsOwner, With(labels, "state", state),
                 static_cast<double>(waits));
  }
  out->Counter(metric::kWaitOwnerRunnable, labels,
               Seconds(cell.wait_owner_runnable_ns));
  out->Counter(metric::kInversions, labels,
               static_cast<double>(cell.inversions));
}

void AddOperations(const SeriesKey& key, const Series& series, Families* out) {
  out->Histogram(metric::kOperation,
                 {{"kernel", key.kernel},
                  {"preempt", key.preempt},
                  {"subsystem", std::string(Name(key.cell.subsystem))},
                  {"op", std::string(Name(key.cell.operation))},
                  {"algorithm", key.cell.algorithm},
                  {"lock_model", std::string(Name(key.lock_model))},
                  {"tier", std::string(Name(key.latency_tier))}},
                 series.cell.latency);
}

void AddCells(const FleetState& state, const KernelLabels& kernels,
              absl::Time now, Families* out) {
  for (const auto& [key, series] : SeriesOf(state, kernels, now)) {
    const Labels labels =
        With(With(CellLabels(key.kernel, key.preempt, key.cell), "tier",
                  Name(key.hold_tier)),
             "wait_tier", Name(key.wait_tier));
    if (CountsHolds(key.hold_tier)) {
      AddHolds(labels, series, out);
    } else if (key.hold_tier == Tier::kOwnerProbe) {
      out->Histogram(metric::kOwnerOffCpu, With(labels, "state", "runnable"),
                     series.cell.runnable);
      out->Histogram(metric::kOwnerOffCpu, With(labels, "state", "blocked"),
                     series.cell.blocked);
    }
    if (key.wait_tier != Tier::kUnspecified) AddWaits(labels, series, out);
    if (IsOperation(series.cell)) AddOperations(key, series, out);
  }
  std::map<std::vector<ClientMetric::Label>, bool> seen;
  for (const auto& [cohort_key, cohort] : state.cohorts) {
    for (const auto& [key, cell] : cohort.cells) {
      Labels labels = CellLabels(kernels.Of(cohort_key.kernel_release),
                                 cohort_key.preempt, key.key);
      labels = With(labels, "lock_model", Name(key.lock_model));
      labels = With(labels, "hold_tier", Name(key.hold_tier));
      labels = With(labels, "wait_tier", Name(key.wait_tier));
      labels = With(labels, "latency_tier", Name(key.latency_tier));
      if (!seen.emplace(labels, true).second) continue;
      out->Gauge(metric::kCellInfo, labels, 1);
    }
  }
}

// What exemplars would be, which the library cannot write: from the longest
// holds to their pages.
void AddTopHolds(const FleetState& state, const KernelLabels& kernels,
                 absl::Time now, Families* out) {
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(24));
  std::set<std::string> ids;
  for (const TopHold& top : state.top_holds) {
    if (ids.size() == kTopHolds) return;
    const std::string id = HoldId(top);
    if (static_cast<int64_t>(top.end_unix_ns) < oldest ||
        !ids.insert(id).second) {
      continue;
    }
    out->Gauge(metric::kTopHold,
               {{"kernel", kernels.Of(top.kernel_release)},
                {"subsystem", std::string(Name(top.key.subsystem))},
                {"op", std::string(Name(top.key.operation))},
                {"role", std::string(Name(top.key.role))},
                {"hold", id}},
               Seconds(top.hold.hold_ns));
  }
}

void AddHosts(const FleetSnapshot& snapshot, const KernelLabels& kernels,
              absl::Time now, Families* out) {
  const FleetState& state = snapshot.state;
  out->Gauge(metric::kHosts, {{"state", "connected"}},
             static_cast<double>(snapshot.streams.size()));
  const auto several =
      std::count_if(snapshot.streams.begin(), snapshot.streams.end(),
                    [](const auto& host) { return host.second > 1; });
  out->Gauge(metric::kHosts, {{"state", "several_streams"}},
             static_cast<double>(several));
  out->Gauge(metric::kHosts, {{"state", "quarantined"}},
             static_cast<double>(snapshot.quarantine.List(now).size()));
  uint64_t seen = 0;
  for (const HostGroup& group : snapshot.host_groups) seen += group.hosts;
  out->Gauge(metric::kHosts, {{"state", "seen"}}, static_cast<double>(seen));
  std::map<std::pair<std::string, std::string>, double> attached;
  std::set<std::string> probes;  // that have series of their own
  for (const HostGroup& group : snapshot.host_groups) {
    for (const Probe& probe : group.probes) {
      if (probe.state != ProbeState::kAttached &&
          probe.state != ProbeState::kRefused) {
        continue;
      }
      if (probes.size() < kMaxProbeNames) probes.insert(probe.name);
      attached[{probes.count(probe.name) > 0 ? probe.name : kOtherName,
                kernels.Of(group.kernel_release)}] +=
          probe.state == ProbeState::kAttached
              ? static_cast<double>(group.hosts)
              : 0;
    }
  }
  for (const auto& [key, hosts] : attached) {
    out->Gauge(metric::kProbeAttachedHosts,
               {{"probe", key.first}, {"kernel", key.second}}, hosts);
  }
  // Reasons that did not occur are 0: increase() of a counter that begins with
  // its first event does not see that event.
  std::map<LossReason, uint64_t> losses = state.losses;
  for (int i = 1; Name(LossReason{i}) != Name(LossReason::kUnspecified); ++i) {
    losses.emplace(LossReason{i}, 0);
  }
  for (const auto& [reason, events] : losses) {
    out->Counter(metric::kEventsLost, {{"reason", std::string(Name(reason))}},
                 static_cast<double>(events));
  }
  out->Counter(metric::kAgentCpu, {}, Seconds(state.agent_cpu_ns));
}

void AddHardware(const FleetSnapshot& snapshot, const KernelLabels& kernels,
                 Families* out) {
  std::map<HardwareKey, HardwareCounts> named;
  for (const auto& [key, counts] : snapshot.hardware) {
    HardwareKey by = key;
    by.kernel_release = kernels.Of(key.kernel_release);
    named[by] += counts;
  }
  for (const auto& [key, counts] : named) {
    const Labels labels = {{"cpu_family", key.cpu_family},
                           {"kernel", key.kernel_release},
                           {"subsystem", std::string(Name(key.subsystem))},
                           {"op", std::string(Name(key.operation))}};
    out->Counter(metric::kHardwareAcquisitions, labels,
                 static_cast<double>(counts.acquisitions));
    out->Counter(metric::kHardwareContended, labels,
                 static_cast<double>(counts.contended));
    out->Counter(metric::kHardwareWaits, labels,
                 static_cast<double>(counts.waits_over_10ms));
    out->Counter(metric::kHardwareHold, labels, Seconds(counts.hold_ns));
    out->Counter(metric::kHardwareRunnable, labels,
                 Seconds(counts.runnable_ns));
  }
}

void AddDelivery(const Delivery& delivery, Families* out) {
  const struct {
    const char* event;
    uint64_t count;
  } kEvents[] = {
      {"merged", delivery.merged},       {"lost", delivery.lost},
      {"damaged", delivery.damaged},     {"disk_error", delivery.disk_errors},
      {"held", delivery.held},           {"stream", delivery.streams},
      {"postponed", delivery.postponed}, {"refused", delivery.refused},
      {"in_doubt", delivery.in_doubt}};
  for (const auto& [event, count] : kEvents) {
    out->Counter(metric::kAgentDeliveryEvents, {{"event", event}},
                 static_cast<double>(count));
  }
  const uint64_t on_disk = delivery.waiting - delivery.only_in_memory;
  out->Gauge(metric::kAgentSpoolWindows, {{"where", "disk"}},
             static_cast<double>(on_disk));
  out->Gauge(metric::kAgentSpoolWindows, {{"where", "memory"}},
             static_cast<double>(delivery.only_in_memory));
  out->Gauge(metric::kAgentSpoolBytes, {},
             static_cast<double>(delivery.waiting_bytes));
}

void AddPipeline(const FleetSnapshot& snapshot, Families* out) {
  std::map<std::string, uint64_t> rejections = snapshot.rejected;
  for (const RejectReason reason : kRejectReasons) {
    rejections.emplace(Name(reason), 0);
  }
  uint64_t rejected = 0;
  for (const auto& [reason, windows] : rejections) rejected += windows;
  const struct {
    const char* result;
    uint64_t windows;
  } kResults[] = {{"merged", snapshot.state.windows_merged},
                  {"duplicate", snapshot.state.windows_duplicate},
                  {"rejected", rejected}};
  for (const auto& [result, windows] : kResults) {
    out->Counter(metric::kWindows, {{"result", result}},
                 static_cast<double>(windows));
  }
  for (const auto& [reason, windows] : rejections) {
    out->Counter(metric::kWindowsRejected, {{"reason", reason}},
                 static_cast<double>(windows));
  }
  std::map<std::string, uint64_t> refusals = snapshot.streams_refused;
  for (const char* reason : kStreamRefusals) refusals.emplace(reason, 0);
  for (const auto& [reason, streams] : refusals) {
    out->Counter(metric::kStreamsRefused, {{"reason", reason}},
                 static_cast<double>(streams));
  }
  out->Gauge(metric::kConnections, {},
             static_cast<double>(snapshot.connections.open));
  out->Counter(metric::kConnectionsRefused, {},
               static_cast<double>(snapshot.connections.refused));
  out->Counter(metric::kConnectionsDelayed, {},
               static_cast<double>(snapshot.connections.delayed));
  const Overflow& overflow = snapshot.overflow;
  const struct {
    const char* what;
    uint64_t count;
  } kOverflows[] = {{"kernels", overflow.kernels},
                    {"algorithms", overflow.algorithms},
                    {"cells", overflow.cells}};
  for (const auto& [what, count] : kOverflows) {
    out->Counter(metric::kOverflow, {{"what", what}},
                 static_cast<double>(count));
  }
  out->Counter(metric::kWindowsMissing, {},
               static_cast<double>(snapshot.state.windows_missing));
  out->Counter(metric::kWindowsInDoubt, {},
               static_cast<double>(snapshot.windows_in_doubt));
  if (snapshot.commits > 0) {
    out->Gauge(metric::kIngestLag, {}, Seconds(snapshot.ingest_lag));
  }
  out->Summary(metric::kCommit, snapshot.commits,
               Seconds(snapshot.commit_time));
  out->Gauge(metric::kBuildInfo, {{"version", std::string(kVersion)}}, 1);
  out->Gauge(metric::kReplay, {}, snapshot.replay.empty() ? 0 : 1);
}

}  // namespace

std::vector<MetricFamily> RenderMetrics(const FleetSnapshot& snapshot,
                                        const VerdictBook& book,
                                        absl::Time now) {
  const KernelLabels kernels(snapshot.state, snapshot.host_groups);
  Families cells;
  AddCells(snapshot.state, kernels, now, &cells);
  AddTopHolds(snapshot.state, kernels, now, &cells);
  Families others;
  AddHosts(snapshot, kernels, now, &others);
  AddHardware(snapshot, kernels, &others);
  AddPipeline(snapshot, &others);
  AddDelivery(snapshot.delivery, &others);
  std::vector<MetricFamily> out = cells.Take();
  for (std::vector<MetricFamily> more :
       {VerdictFamilies(book, kernels, now), others.Take()}) {
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  return out;
}

std::vector<MetricFamily> Exporter::Collect() const {
  std::vector<MetricFamily> out =
      RenderMetrics(fleet_->ForMetrics(), *verdicts_->Book(), clock_.wall());
  const OtlpExporter* const sent = otlp_;
  Families otlp;
  const struct {
    const char* result;
    uint64_t count;
  } kResults[] = {{"ok", sent == nullptr ? 0 : sent->succeeded()},
                  {"failed", sent == nullptr ? 0 : sent->failed()}};
  for (const auto& [result, count] : kResults) {
    otlp.Counter(metric::kOtlpExports, {{"result", result}},
                 static_cast<double>(count));
  }
  std::vector<MetricFamily> exports = otlp.Take();
  std::move(exports.begin(), exports.end(), std::back_inserter(out));
  std::vector<MetricFamily> process = ProcessMetrics();
  std::move(process.begin(), process.end(), std::back_inserter(out));
  return out;
}

std::string Exporter::Text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, Collect());
  return out.str();
}

}  // namespace swaplock
