#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/window_table.h"
#include "server/web/hold_charts.h"
#include "server/web/hold_tables.h"
#include "server/web/html.h"
#include "server/web/http_query.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"

namespace swaplock {
namespace {

std::string StackHtml(const char* title,
                      const std::vector<std::string>& stack) {
  if (stack.empty()) return "";
  return absl::StrCat("<h2>", title, "</h2>\n<pre>",
                      EscapeHtml(absl::StrJoin(stack, "\n")), "</pre>\n");
}

std::string ActorsHtml(const char* title, const char* column,
                       const std::vector<Actor>& actors) {
  if (actors.empty()) return "";
  HtmlTable table = {title, {"task", "nice", column, ""}, {}};
  for (const Actor& actor : actors) {
    table.rows.push_back({absl::StrCat(actor.comm, "[", actor.pid, "]"),
                          absl::StrCat(actor.nice), TimeText(actor.ns),
                          actor.inversion ? "priority inversion" : ""});
  }
  return Html(table);
}

std::string FactsHtml(const TopHold& top) {
  const Hold& hold = top.hold;
  HtmlTable table = {"The hold", {"what", "value"}, {}};
  const auto add = [&table](const char* what, HtmlCell value) {
    table.rows.push_back({what, std::move(value)});
  };
  add("host", HostCellOf(top.host_id));
  add("kernel", top.kernel_release);
  add("lock", LockName(top.key));
  add("algorithm", top.key.algorithm.empty() ? kNotKnown : top.key.algorithm);
  add("holder", HolderName(hold));
  add("process", absl::StrCat(hold.tgid));
  if (!hold.cgroup.empty()) add("cgroup", hold.cgroup);
  add("waited for it", TimeText(hold.wait_ns));
  add("taken on CPU", absl::StrCat(hold.acquire_cpu));
  add("released on CPU", absl::StrCat(hold.release_cpu));
  add("migrations", absl::StrCat(hold.migrations));
  add("preempted",
      absl::StrCat(hold.preemptions, " times, ", TimeText(hold.preempted_ns)));
  add("woken and waiting for a CPU", TimeText(hold.woken_ns));
  add("throttled by cpu.max", TimeText(hold.throttled_ns));
  add("waits behind it", TimeText(hold.stall_ns));
  add("of them priority inversion", TimeText(hold.inversion_ns));
  add("window ended",
      absl::FormatTime("%Y-%m-%d %H:%M:%E3S UTC", UnixNanos(top.end_unix_ns),
                       absl::UTCTimeZone()));
  return Html(table);
}

}  // namespace

std::string HoldsPage(const FleetSnapshot& snapshot, absl::Time now) {
  return absl::StrCat(HtmlHead("Holds", "/holds"), LongestChart(snapshot, now),
                      InProgressHtml(snapshot, now, ""),
                      LongestHoldsHtml(snapshot, now, ""), HtmlEnd());
}

std::string HoldPage(const FleetSnapshot& snapshot, absl::Time now,
                     const PageQuery& query) {
  uint64_t window = 0;
  uint64_t pid = 0;
  uint64_t ns = 0;
  const std::string id = ValueOf(query, "id");
  std::vector<std::string> parts = absl::StrSplit(id, '-');
  if (id.empty()) {
    parts = {ValueOf(query, "window"), ValueOf(query, "pid"),
             ValueOf(query, "ns")};
  }
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &window) ||
      !absl::SimpleAtoi(parts[1], &pid) || !absl::SimpleAtoi(parts[2], &ns)) {
    return "";
  }
  const HoldTiers tiers(snapshot.state);
  for (const TopHold& top :
       HoldsOfTheDay(snapshot.state, now, ValueOf(query, "host"))) {
    const Hold& hold = top.hold;
    if (top.end_unix_ns != window || hold.pid != pid || hold.hold_ns != ns) {
      continue;
    }
    const bool whole = tiers.IsWhole(top);
    std::vector<HtmlTile> tiles = {{"held for", TimeText(hold.hold_ns)}};
    if (whole) tiles.push_back({"on CPU", TimeText(hold.on_cpu_ns)});
    tiles.push_back({"runnable, no CPU", TimeText(hold.runnable_ns)});
    tiles.push_back({"blocked", TimeText(hold.blocked_ns)});
    if (whole) tiles.push_back({"unknown", TimeText(hold.unknown_ns)});
    return absl::StrCat(
        HtmlHead(absl::StrCat(LockName(top.key), " held for ",
                              TimeText(hold.hold_ns)),
                 "/holds"),
        HtmlTiles(tiles),
        whole ? HoldChart(hold)
              : HtmlNote("This host does not see where holds begin and end: "
                         "this is an interval in which the lock's owner was "
                         "off its CPU."),
        ActorsHtml("Who ran instead", "ran", hold.preemptors),
        ActorsHtml("Who waited", "waited", hold.waiters), FactsHtml(top),
        StackHtml("Switched out in", hold.switch_stack),
        StackHtml("Released in", hold.release_stack), HtmlEnd());
  }
  return "";
}

}  // namespace swaplock
