#include "server/page.h"

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/version.h"
#include "server/cell_series.h"
#include "server/kernel_label.h"

namespace swaplock {
namespace {

constexpr size_t kMaxRows = 50;
constexpr char kNotMeasured[] = "not measured";

constexpr char kHead[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>swaplock</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5em; color: #1a1a1a; }
table { border-collapse: collapse; margin: 0 0 1.5em; }
th, td { padding: .25em .7em; border-bottom: 1px solid #ccc; text-align: left; }
div { overflow-x: auto; }
h2 { margin: 1em 0 .4em; font-size: 1.15em; }
</style>
</head>
<body>
<h1>swaplock</h1>
)html";

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

void Table(absl::string_view title, const std::vector<std::string>& columns,
           const std::vector<std::vector<std::string>>& rows,
           std::string* out) {
  absl::StrAppend(out, "<h2>", EscapeHtml(title), "</h2>\n");
  if (rows.empty()) {
    absl::StrAppend(out, "<p>Nothing yet.</p>\n");
    return;
  }
  absl::StrAppend(out, "<div><table>\n<thead><tr>");
  for (const std::string& column : columns) {
    absl::StrAppend(out, "<th scope=\"col\">", EscapeHtml(column), "</th>");
  }
  absl::StrAppend(out, "</tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < rows.size() && i < kMaxRows; ++i) {
    absl::StrAppend(out, "<tr>");
    for (const std::string& text : rows[i]) {
      absl::StrAppend(out, "<td>", EscapeHtml(text), "</td>");
    }
    absl::StrAppend(out, "</tr>\n");
  }
  absl::StrAppend(out, "</tbody>\n</table></div>\n");
  if (rows.size() > kMaxRows) {
    absl::StrAppend(out, "<p>and ", rows.size() - kMaxRows, " more</p>\n");
  }
}

std::string LockName(const CellKey& key) {
  return absl::StrCat(Name(key.role), " (", Name(key.mode), ")");
}

std::string OperationName(const CellKey& key) {
  return absl::StrCat(Name(key.subsystem), " ", Name(key.operation));
}

void Verdicts(const FleetSnapshot& snapshot, std::string* out) {
  std::vector<std::vector<std::string>> rows;
  for (const Verdict& v : snapshot.verdicts) {
    rows.push_back({std::string(Name(v.kind)), v.sentence});
  }
  Table("Verdicts", {"verdict", "in words"}, rows, out);
}

// "exact/contention": holds and waits.
std::string MeasuredBy(const SeriesKey& key) {
  const auto name = [](Tier tier) {
    return tier == Tier::kUnspecified ? kNotMeasured : std::string(Name(tier));
  };
  return absl::StrCat(name(key.hold_tier), "/", name(key.wait_tier));
}

void Operations(const FleetSnapshot& snapshot, absl::Time now,
                std::string* out) {
  std::vector<std::vector<std::string>> rows;
  const KernelLabels kernels(snapshot.state);
  for (const auto& [key, series] : SeriesOf(snapshot.state, kernels, now)) {
    const bool holds = CountsHolds(key.hold_tier);
    const Cell& cell = series.cell;
    const auto if_held = [holds](const std::string& text) {
      return holds ? text : kNotMeasured;
    };
    const bool waits = key.wait_tier != Tier::kUnspecified;
    const auto if_waited = [waits](const std::string& text) {
      return waits ? text : kNotMeasured;
    };
    // Sums of off-CPU time exist for the owner probe too.
    const bool off_cpu = holds || key.hold_tier == Tier::kOwnerProbe;
    rows.push_back({key.kernel, key.preempt, OperationName(key.cell),
                    LockName(key.cell), key.cell.algorithm, MeasuredBy(key),
                    if_held(absl::StrCat(cell.acquisitions)),
                    if_waited(absl::StrCat(cell.contended)),
                    if_waited(Quantile(cell.wait, 0.99)),
                    if_waited(Time(cell.wait.max_ns)),
                    if_waited(absl::StrCat(cell.wait.over_10ms)),
                    if_held(Quantile(cell.hold, 0.99)),
                    if_held(Time(cell.hold.max_ns)),
                    if_held(Time(cell.on_cpu_ns)),
                    off_cpu ? Time(cell.runnable.sum_ns) : kNotMeasured,
                    off_cpu ? Time(cell.blocked.sum_ns) : kNotMeasured});
  }
  Table("Operations",
        {"kernel", "preempt", "operation", "lock", "algorithm", "measured by",
         "acquisitions", "contended", "wait p99", "longest wait",
         "waits over 10 ms", "hold p99", "longest hold", "on CPU",
         "runnable off CPU", "blocked"},
        rows, out);
}

void LongestHolds(const FleetSnapshot& snapshot, absl::Time now,
                  std::string* out) {
  std::vector<std::vector<std::string>> rows;
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(24));
  for (const TopHold& top : snapshot.state.top_holds) {
    if (static_cast<int64_t>(top.end_unix_ns) < oldest) continue;
    const Hold& h = top.hold;
    rows.push_back({Time(h.hold_ns), Time(h.on_cpu_ns), Time(h.runnable_ns),
                    Time(h.blocked_ns), Time(h.unknown_ns),
                    OperationName(top.key), LockName(top.key), top.key.device,
                    absl::StrCat(h.comm, " (", h.pid, ", nice ", h.nice, ")"),
                    absl::StrCat(h.preemptions), top.host_id,
                    top.kernel_release});
  }
  Table(
      "Longest holds of the last 24 hours",
      {"hold", "on CPU", "runnable off CPU", "blocked", "unknown", "operation",
       "lock", "device", "holder", "preempted", "host", "kernel"},
      rows, out);
}

void Hosts(const FleetSnapshot& snapshot, absl::Time now, std::string* out) {
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, uint64_t> not_measured;
  for (const auto& [id, host] : snapshot.state.hosts) {
    uint64_t attached = 0;
    uint64_t refused = 0;
    for (const Probe& probe : host.coverage.probes) {
      attached += probe.state == ProbeState::kAttached;
      refused += probe.state == ProbeState::kRefused;
    }
    const absl::Duration ago =
        now - absl::FromUnixNanos(static_cast<int64_t>(host.last_seen_unix_ns));
    rows.push_back(
        {id, host.kernel_release, host.preempt,
         snapshot.streams.count(id) > 0 ? "connected" : "not connected",
         absl::StrCat(absl::FormatDuration(absl::Floor(ago, absl::Seconds(1))),
                      " ago"),
         absl::StrCat(host.windows),
         absl::StrCat(attached, " attached, ", refused, " refused")});
    for (const std::string& sentence : host.coverage.not_measured) {
      ++not_measured[sentence];
    }
  }
  Table("Hosts",
        {"host", "kernel", "preempt", "stream", "last window", "windows",
         "probes"},
        rows, out);
  rows.clear();
  for (const auto& [sentence, hosts] : not_measured) {
    rows.push_back({absl::StrCat(hosts), sentence});
  }
  Table("Not measured", {"hosts", "what, and why"}, rows, out);
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"}});
}

std::string RenderPage(const FleetSnapshot& snapshot, absl::Time now) {
  std::string out = kHead;
  absl::StrAppend(&out, "<p>", snapshot.streams.size(), " of ",
                  snapshot.state.hosts.size(), " hosts connected, ",
                  snapshot.state.windows_merged, " windows, ",
                  snapshot.state.windows_missing, " missing. Version ",
                  kVersion, ". <a href=\"/metrics\">Metrics</a>, ",
                  "<a href=\"/api/v1/fleet\">fleet</a> and ",
                  "<a href=\"/api/v1/verdicts\">verdicts</a> as JSON.</p>\n");
  Verdicts(snapshot, &out);
  Operations(snapshot, now, &out);
  LongestHolds(snapshot, now, &out);
  Hosts(snapshot, now, &out);
  absl::StrAppend(&out, "</body>\n</html>\n");
  return out;
}

}  // namespace swaplock
