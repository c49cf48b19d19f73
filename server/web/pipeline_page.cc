#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/web/html.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"

namespace swaplock {
namespace {

std::string Duration(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1)));
}

std::string ByReason(const char* title, const char* what,
                     const std::map<std::string, uint64_t>& counts) {
  HtmlTable table = {title, {"reason", what}, {}, "None since start."};
  for (const auto& [reason, count] : counts) {
    if (count == 0) continue;
    table.rows.push_back({reason, absl::StrCat(count)});
  }
  return Html(table);
}

}  // namespace

std::string PipelinePage(const FleetSnapshot& snapshot, absl::Time now) {
  const FleetState& state = snapshot.state;
  HtmlTable aside = {"Hosts set aside",
                     {"host", "windows refused", "since", "until", "why"},
                     {},
                     "None: no host sends windows that break the rules."};
  for (const QuarantinedHost& host : snapshot.quarantine.List(now)) {
    aside.rows.push_back({HostCellOf(host.host_id), absl::StrCat(host.refused),
                          Ago(host.since, now),
                          absl::StrCat("in ", Duration(host.until - now)),
                          host.reason});
  }
  const auto bad = [](uint64_t count) { return count > 0 ? "bad" : ""; };
  return absl::StrCat(
      HtmlHead("Pipeline", "/pipeline"),
      HtmlTiles(
          {{"windows merged", absl::StrCat(state.windows_merged)},
           {"known already", absl::StrCat(state.windows_duplicate)},
           {"missing", absl::StrCat(state.windows_missing),
            bad(state.windows_missing)},
           {"in doubt, since start", absl::StrCat(snapshot.windows_in_doubt)},
           {"last window's lag", snapshot.commits == 0
                                     ? kNotMeasured
                                     : Duration(snapshot.ingest_lag)},
           {"mean commit",
            snapshot.commits == 0
                ? kNotMeasured
                : Duration(snapshot.commit_time /
                           static_cast<int64_t>(snapshot.commits))},
           {"connections", absl::StrCat(snapshot.connections.open)},
           {"connections refused", absl::StrCat(snapshot.connections.refused),
            bad(snapshot.connections.refused)},
           {"cells left out", absl::StrCat(snapshot.overflow.cells),
            bad(snapshot.overflow.cells)}}),
      Html(aside),
      ByReason("Windows rejected, since start", "windows", snapshot.rejected),
      ByReason("Streams refused, since start", "streams",
               snapshot.streams_refused),
      HtmlEnd());
}

}  // namespace swaplock
