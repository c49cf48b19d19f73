#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/version.h"
#include "common/window_table.h"
#include "server/web/chart.h"
#include "server/web/hold_charts.h"
#include "server/web/hold_tables.h"
#include "server/web/html.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"
#include "server/web/verdict_pages.h"

namespace swaplock {
namespace {

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
  for (const auto& [id, host] : snapshot.state.hosts) {
    const auto said = snapshot.hosts_now.ContextOf(id);
    const Context context = said == nullptr ? Context() : said->known;
    table.rows.push_back(
        {HostCellOf(id), host.environment.kernel_release,
         host.environment.preempt, host.environment.swap_backend,
         CodecsOf(context), PoolsOf(context), GaugeOf(context, kMemoryPressure),
         GaugeOf(context, kCpuPressure),
         snapshot.streams.count(id) > 0 ? "connected" : "not connected",
         Ago(UnixNanos(host.last_seen_unix_ns), now),
         absl::StrCat(host.windows), ProbesOf(host.coverage)});
  }
  return Html(table);
}

std::string Tiles(const FleetSnapshot& snapshot, const VerdictBook& book,
                  const AllSeries& all, absl::Time now) {
  uint64_t contended = 0;
  uint64_t acquired = 0;
  for (const auto& [key, series] : all) {
    if (!CountsHolds(key.hold_tier) || key.wait_tier == Tier::kUnspecified) {
      continue;
    }
    contended += series.cell.contended;
    acquired += series.cell.acquisitions;
  }
  const std::vector<TopHold> day = HoldsOfTheDay(snapshot.state, now, "");
  const uint64_t longest = day.empty() ? 0 : day.front().hold.hold_ns;
  std::set<std::string> kernels;
  for (const auto& [id, host] : snapshot.state.hosts) {
    kernels.insert(host.environment.kernel_release);
  }
  uint64_t regressions = 0;
  for (const StoredVerdict& verdict : book.verdicts) {
    regressions += verdict.record.kind == VerdictKind::kRegression &&
                   verdict.went_away.empty();
  }
  return HtmlTiles(
      {{"regressions", absl::StrCat(regressions),
        regressions > 0 ? "bad" : "good"},
       {"hosts connected", absl::StrCat(snapshot.streams.size(), " of ",
                                        snapshot.state.hosts.size())},
       {"kernels", absl::StrCat(kernels.size())},
       {"contended, of acquisitions",
        acquired == 0
            ? kNotMeasured
            : absl::StrFormat("%.3g %%", 100. * static_cast<double>(contended) /
                                             static_cast<double>(acquired))},
       {"longest hold of the day", day.empty() ? "none" : TimeText(longest),
        longest > 100'000'000 ? "bad" : ""},
       {"in progress now",
        absl::StrCat(snapshot.hosts_now.HoldsInProgress(now).size())}});
}

}  // namespace

std::string FleetPage(const FleetSnapshot& snapshot, const VerdictBook& book,
                      absl::Time now) {
  const AllSeries all =
      SeriesOf(snapshot.state, KernelLabels(snapshot.state), now);
  return absl::StrCat(
      HtmlHead("swaplock", "/"), Tiles(snapshot, book, all, now),
      "<div class=\"pair\">\n", PartsChart(all), LongestChart(snapshot, now),
      "</div>\n", VerdictsHtml(book), InProgressHtml(snapshot, now, ""),
      HostsHtml(snapshot, now),
      "<p class=\"note\">- is not measured, never 0. Version ", kVersion,
      ". <a href=\"/metrics\">Metrics</a>, <a href=\"/api/v1/fleet\">fleet</a> "
      "and <a href=\"/api/v1/verdicts\">verdicts</a> as JSON, <a "
      "href=\"/assets/charts.licenses.txt\">licences</a>.</p>\n",
      HtmlEnd());
}

}  // namespace swaplock
