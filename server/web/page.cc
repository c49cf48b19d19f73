#include "server/web/page.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/version.h"
#include "common/window_table.h"
#include "server/metrics/cell_series.h"
#include "server/metrics/kernel_label.h"
#include "server/web/html.h"
#include "server/web/verdict_pages.h"

namespace swaplock {
namespace {

constexpr char kNotMeasured[] = "-";
constexpr char kNotKnown[] = "not known";

std::string Time(uint64_t ns) {
  if (ns == 0) return "0";
  const double value = static_cast<double>(ns);
  if (value < 1e3) return absl::StrFormat("%d ns", ns);
  if (value < 1e6) return absl::StrFormat("%.3g us", value / 1e3);
  if (value < 1e9) return absl::StrFormat("%.3g ms", value / 1e6);
  return absl::StrFormat("%.3g s", value / 1e9);
}

std::string Quantile(const Distribution& d, double q) {
  return Time(static_cast<uint64_t>(d.QuantileNs(q)));
}

std::string If(bool measured, const std::string& text) {
  return measured ? text : kNotMeasured;
}

std::string Ago(absl::Time time, absl::Time now) {
  const absl::Duration ago = absl::Floor(now - time, absl::Seconds(1));
  if (ago <= absl::ZeroDuration()) return "now";
  return absl::StrCat(absl::FormatDuration(ago), " ago");
}

// The lock's role; most locks are only ever taken exclusively.
std::string LockOf(const CellKey& key) {
  return absl::StrCat(Name(key.role),
                      key.mode == Mode::kShared ? " (shared)" : "");
}

std::string OperationOf(const CellKey& key) {
  return absl::StrCat(Name(key.subsystem), " ", Name(key.operation));
}

// "lock-free" is a finding; a model that is not known is none.
std::string ModelOf(LockModel model) {
  return model == LockModel::kUnspecified ? kNotKnown : ModelName(model);
}

// Waits none of which saw an owner: the lock of this kernel does not tell it.
bool SawOwners(const Cell& cell) {
  return cell.contended == 0 || cell.waits_owner_running > 0 ||
         cell.waits_owner_runnable > 0 || cell.waits_owner_blocked > 0;
}

using AllSeries = std::map<SeriesKey, Series>;

// Whole operations; nothing where no host measures them.
std::string OperationsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Operations, from entry to exit",
      {"kernel", "preempt", "operation", "lock", "algorithm", "operations",
       "mean", "p99", "longest", "over 1 ms", "over 10 ms", "over 100 ms"},
      {}};
  for (const auto& [key, series] : all) {
    if (!IsOperation(series.cell)) continue;
    const Distribution& d = series.cell.latency;
    const bool any = d.Count() > 0;
    table.rows.push_back({key.kernel, key.preempt, OperationOf(key.cell),
                          ModelOf(key.lock_model), key.cell.algorithm,
                          absl::StrCat(d.Count()),
                          If(any, Time(static_cast<uint64_t>(d.MeanNs()))),
                          If(any, Quantile(d, 0.99)), If(any, Time(d.max_ns)),
                          absl::StrCat(d.over_1ms), absl::StrCat(d.over_10ms),
                          absl::StrCat(d.over_100ms)});
  }
  return table.rows.empty() ? "" : Html(table);
}

std::vector<HtmlCell> LockCells(const SeriesKey& key, const Cell& cell,
                                Tier tier) {
  return {key.kernel,
          key.preempt,
          OperationOf(key.cell),
          LockOf(key.cell),
          ModelOf(cell.lock_model),
          key.cell.algorithm,
          If(tier != Tier::kUnspecified, std::string(Name(tier)))};
}

void Append(std::vector<HtmlCell> more, std::vector<HtmlCell>* row) {
  std::move(more.begin(), more.end(), std::back_inserter(*row));
}

std::string WaitsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Waits for locks",
      {"kernel", "preempt", "operation", "lock", "model", "algorithm",
       "measured by", "acquisitions", "contended", "p99", "longest",
       "over 10 ms", "owner runnable off CPU", "inversions"},
      {}};
  for (const auto& [key, series] : all) {
    const Cell& cell = series.cell;
    if (IsOperation(cell)) continue;
    const bool waits = key.wait_tier != Tier::kUnspecified;
    std::vector<HtmlCell> row = LockCells(key, cell, key.wait_tier);
    Append({If(CountsHolds(key.hold_tier), absl::StrCat(cell.acquisitions)),
            If(waits, absl::StrCat(cell.contended)),
            If(waits, Quantile(cell.wait, 0.99)),
            If(waits, Time(cell.wait.max_ns)),
            If(waits, absl::StrCat(cell.wait.over_10ms)),
            If(waits && SawOwners(cell), Time(cell.wait_owner_runnable_ns)),
            If(waits && SawOwners(cell), absl::StrCat(cell.inversions))},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

std::string HoldsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Holds of locks",
      {"kernel", "preempt", "operation", "lock", "model", "algorithm",
       "measured by", "holds", "p99", "longest", "on CPU", "runnable off CPU",
       "preempted", "woken", "throttled", "blocked", "unknown", "migrations"},
      {}};
  for (const auto& [key, series] : all) {
    const Cell& cell = series.cell;
    if (IsOperation(cell)) continue;
    const bool holds = CountsHolds(key.hold_tier);
    // Sums of off-CPU time exist for the owner probe too.
    const bool off_cpu = holds || key.hold_tier == Tier::kOwnerProbe;
    const bool split = MeasuresSplit(cell);
    std::vector<HtmlCell> row = LockCells(key, cell, key.hold_tier);
    Append({If(holds, absl::StrCat(cell.hold.Count())),
            If(holds, Quantile(cell.hold, 0.99)),
            If(holds, Time(cell.hold.max_ns)), If(holds, Time(cell.on_cpu_ns)),
            If(off_cpu, Time(cell.runnable.sum_ns)),
            If(split, Time(cell.preempted_ns)), If(split, Time(cell.woken_ns)),
            If(split, Time(cell.throttled_ns)),
            If(off_cpu, Time(cell.blocked.sum_ns)),
            If(holds, Time(cell.unknown_ns)),
            If(split, absl::StrCat(cell.migrations))},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

HtmlCell HostCellOf(const std::string& host_id) {
  HtmlCell cell = host_id;
  cell.link = HostLink(host_id);
  return cell;
}

// The holder, which opens on why its hold was long.
HtmlCell Holder(const Hold& hold) {
  HtmlCell cell = HolderName(hold);
  cell.details = HoldExplanation(hold, "");
  return cell;
}

// Parts of a hold that a tier without holds cannot tell are not 0.
std::vector<HtmlCell> PartsOf(const Hold& hold, bool whole) {
  return {Time(hold.hold_ns), If(whole, Time(hold.on_cpu_ns)),
          Time(hold.runnable_ns), Time(hold.blocked_ns),
          If(whole, Time(hold.unknown_ns))};
}

// The tiers that top holds' cells have, by kernel and key without device.
using HoldTiers = std::map<std::pair<std::string, CellKey>, Tier>;

HoldTiers HoldTiersOf(const FleetState& state) {
  HoldTiers out;
  for (const auto& [cohort_key, cohort] : state.cohorts) {
    for (const auto& [key, cell] : cohort.cells) {
      Tier& tier =
          out.emplace(std::make_pair(cohort_key.kernel_release, key.key),
                      key.hold_tier)
              .first->second;
      if (CountsHolds(key.hold_tier)) tier = key.hold_tier;
    }
  }
  return out;
}

// `host_id` empty: of all hosts.
std::string LongestHoldsHtml(const FleetSnapshot& snapshot, absl::Time now,
                             const std::string& host_id) {
  HtmlTable table = {
      "Longest holds of the last 24 hours",
      {"hold", "on CPU", "runnable off CPU", "blocked", "unknown", "operation",
       "lock", "device", "preempted", "host", "kernel", "holder, and why"},
      {}};
  const HoldTiers tiers = HoldTiersOf(snapshot.state);
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(24));
  for (const TopHold& top : snapshot.state.top_holds) {
    if (static_cast<int64_t>(top.end_unix_ns) < oldest) continue;
    if (!host_id.empty() && top.host_id != host_id) continue;
    CellKey key = top.key;
    key.device.clear();
    const auto tier = tiers.find({top.kernel_release, key});
    const bool whole = tier == tiers.end() || CountsHolds(tier->second);
    std::vector<HtmlCell> row = PartsOf(top.hold, whole);
    Append({OperationOf(top.key), LockOf(top.key), top.key.device,
            absl::StrCat(top.hold.preemptions), HostCellOf(top.host_id),
            top.kernel_release, Holder(top.hold)},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

std::string InProgressHtml(const FleetSnapshot& snapshot, absl::Time now,
                           const std::string& host_id) {
  HtmlTable table = {
      "Holds in progress",
      {"so far", "on CPU", "runnable off CPU", "blocked", "unknown",
       "operation", "lock", "model", "device", "holder", "host", "kernel",
       "seen"},
      {},
      "None: no host said in its last window that a hold over 1 ms lasted on."};
  for (const HoldInProgress& held : snapshot.hosts_now.HoldsInProgress(now)) {
    if (!host_id.empty() && held.host_id != host_id) continue;
    std::vector<HtmlCell> row = PartsOf(held.hold, CountsHolds(held.hold_tier));
    Append({OperationOf(held.key), LockOf(held.key), ModelOf(held.lock_model),
            held.key.device, Holder(held.hold), HostCellOf(held.host_id),
            held.kernel_release, Ago(held.as_of, now)},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

std::string ProbesOf(const Coverage& coverage) {
  uint64_t attached = 0;
  uint64_t refused = 0;
  for (const Probe& probe : coverage.probes) {
    attached += probe.state == ProbeState::kAttached;
    refused += probe.state == ProbeState::kRefused;
  }
  return absl::StrCat(attached, " attached, ", refused, " refused");
}

std::string GaugeOf(const Context& context, const std::string& name) {
  const auto it = context.gauges.find(name);
  return it == context.gauges.end() ? kNotKnown
                                    : ReadableNumber(name, it->second).second;
}

// The compressors of zswap and of every zram device.
std::string CodecsOf(const Context& context) {
  std::set<std::string> codecs;
  for (const auto& [name, value] : context.facts) {
    if (name == "zswap/compressor" || (absl::StartsWith(name, "zram/") &&
                                       absl::EndsWith(name, "/algorithms"))) {
      codecs.insert(value);
    }
  }
  return codecs.empty() ? kNotKnown : absl::StrJoin(codecs, ", ");
}

// Memory of the pools of zswap and of all zram devices.
std::string PoolsOf(const Context& context) {
  uint64_t bytes = 0;
  bool any = false;
  for (const auto& [name, value] : context.gauges) {
    if (name == "zswap/pool_bytes" || (absl::StartsWith(name, "zram/") &&
                                       absl::EndsWith(name, "/pool_bytes"))) {
      bytes += value;
      any = true;
    }
  }
  return any ? ReadableNumber("_bytes", bytes).second : kNotKnown;
}

constexpr char kMemoryPressure[] = "psi/memory/some_avg10_ppm";
constexpr char kCpuPressure[] = "psi/cpu/some_avg10_ppm";

std::string HostsHtml(const FleetSnapshot& snapshot, absl::Time now) {
  HtmlTable table = {
      "Hosts",
      {"host", "kernel", "preempt", "swap", "codec", "pools", "memory pressure",
       "CPU pressure", "stream", "last window", "windows", "probes"},
      {}};
  std::map<std::string, uint64_t> not_measured;
  for (const auto& [id, host] : snapshot.state.hosts) {
    const auto said = snapshot.hosts_now.ContextOf(id);
    const Context context = said == nullptr ? Context() : said->known;
    table.rows.push_back(
        {HostCellOf(id), host.environment.kernel_release,
         host.environment.preempt, host.environment.swap_backend,
         CodecsOf(context), PoolsOf(context), GaugeOf(context, kMemoryPressure),
         GaugeOf(context, kCpuPressure),
         snapshot.streams.count(id) > 0 ? "connected" : "not connected",
         Ago(absl::FromUnixNanos(static_cast<int64_t>(host.last_seen_unix_ns)),
             now),
         absl::StrCat(host.windows), ProbesOf(host.coverage)});
    for (const std::string& sentence : host.coverage.not_measured) {
      ++not_measured[sentence];
    }
  }
  HtmlTable missing = {"Not measured", {"hosts", "what, and why"}, {}};
  for (const auto& [sentence, hosts] : not_measured) {
    missing.rows.push_back({absl::StrCat(hosts), sentence});
  }
  return absl::StrCat(Html(table), Html(missing));
}

std::string MachineHtml(const HostRecord& host) {
  const Environment& e = host.environment;
  HtmlTable table = {"Machine and kernel", {"what", "value"}, {}};
  const auto add = [&table](const char* what, const std::string& value) {
    table.rows.push_back({what, value.empty() ? kNotKnown : value});
  };
  add("kernel", e.kernel_release);
  add("version", e.kernel_version);
  add("build id", e.kernel_build_id);
  add("preemption", e.preempt);
  add("architecture", e.architecture);
  add("CPUs", absl::StrCat(e.cpus));
  add("memory", ReadableNumber("_bytes", e.memory_bytes).second);
  add("swap", e.swap_backend);
  add("vm.page-cluster",
      e.page_cluster < 0 ? kNotKnown : absl::StrCat(e.page_cluster));
  add("agent", e.agent_version);
  for (const auto& [name, value] : e.labels) {
    table.rows.push_back({absl::StrCat("label ", name), value});
  }
  return Html(table);
}

// By source, the first part of each name.
std::string ContextHtml(const HostContext* said, absl::Time now) {
  HtmlTable table = {"Context", {"source", "gauges and settings"}, {}};
  if (said == nullptr) {
    table.if_empty = "The host said none since this server started.";
    return Html(table);
  }
  std::map<std::string, std::vector<std::string>> by_source;
  const auto add = [&by_source](const std::string& name,
                                const std::string& value) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(name, absl::MaxSplits('/', 1));
    by_source[parts.first].push_back(absl::StrCat(parts.second, " ", value));
  };
  for (const auto& [name, value] : said->known.gauges) {
    const auto [what, amount] = ReadableNumber(name, value);
    add(what, amount);
  }
  for (const auto& [name, value] : said->known.facts) add(name, value);
  for (const auto& [source, items] : by_source) {
    table.rows.push_back({source, absl::StrJoin(items, ", ")});
  }
  return absl::StrCat(
      Html(table), "<p>As of ", Ago(said->as_of, now),
      said->known.complete
          ? "."
          : "; not complete: some may be missing or out of date, until the "
            "host says all of it again.",
      "</p>\n");
}

std::string CoverageHtml(const Coverage& coverage) {
  HtmlTable table = {"Probes and what is not measured", {"what"}, {}};
  for (const absl::string_view line :
       absl::StrSplit(CoverageText(coverage), '\n', absl::SkipEmpty())) {
    table.rows.push_back({std::string(line)});
  }
  return Html(table);
}

}  // namespace

std::string RenderPage(const FleetSnapshot& snapshot, const VerdictBook& book,
                       absl::Time now) {
  const AllSeries all =
      SeriesOf(snapshot.state, KernelLabels(snapshot.state), now);
  return absl::StrCat(
      HtmlHead("swaplock"), "<p>", snapshot.streams.size(), " of ",
      snapshot.state.hosts.size(), " hosts connected, ",
      snapshot.state.windows_merged, " windows, ",
      snapshot.state.windows_missing, " missing. Version ", kVersion,
      ". <a href=\"/metrics\">Metrics</a>, ",
      "<a href=\"/api/v1/fleet\">fleet</a> and ",
      "<a href=\"/api/v1/verdicts\">verdicts</a> as JSON. - is not measured, "
      "never 0; ",
      "the end of the page says why.</p>\n", VerdictsHtml(book),
      OperationsHtml(all), WaitsHtml(all), HoldsHtml(all),
      InProgressHtml(snapshot, now, ""), LongestHoldsHtml(snapshot, now, ""),
      HostsHtml(snapshot, now), HtmlEnd());
}

std::string RenderHostPage(const FleetSnapshot& snapshot, absl::Time now,
                           const std::string& host_id) {
  const auto found = snapshot.state.hosts.find(host_id);
  if (found == snapshot.state.hosts.end()) return "";
  const HostRecord& host = found->second;
  const auto said = snapshot.hosts_now.ContextOf(host_id);
  return absl::StrCat(
      HtmlHead(host_id), "<p><a href=\"/\">All hosts</a>. ",
      snapshot.streams.count(host_id) > 0 ? "Connected" : "Not connected", ", ",
      host.windows, " windows, last seen ",
      Ago(absl::FromUnixNanos(static_cast<int64_t>(host.last_seen_unix_ns)),
          now),
      ".</p>\n", MachineHtml(host), InProgressHtml(snapshot, now, host_id),
      LongestHoldsHtml(snapshot, now, host_id), ContextHtml(said.get(), now),
      CoverageHtml(host.coverage), HtmlEnd());
}

}  // namespace swaplock
