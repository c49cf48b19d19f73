#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/window_table.h"
#include "server/web/hold_tables.h"
#include "server/web/html.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"

namespace swaplock {
namespace {

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

std::string HostPage(const FleetSnapshot& snapshot, absl::Time now,
                     const std::string& host_id) {
  const auto found = snapshot.state.hosts.find(host_id);
  if (found == snapshot.state.hosts.end()) return "";
  const HostRecord& host = found->second;
  const auto said = snapshot.hosts_now.ContextOf(host_id);
  return absl::StrCat(
      HtmlHead(host_id, "/"), "<p>",
      snapshot.streams.count(host_id) > 0 ? "Connected" : "Not connected", ", ",
      host.windows, " windows, last seen ",
      Ago(UnixNanos(host.last_seen_unix_ns), now), ".</p>\n", MachineHtml(host),
      InProgressHtml(snapshot, now, host_id),
      LongestHoldsHtml(snapshot, now, host_id), ContextHtml(said.get(), now),
      CoverageHtml(host.coverage), HtmlEnd());
}

}  // namespace swaplock
