#include "server/web/hold_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/window_table.h"
#include "server/web/chart.h"
#include "server/web/hold_link.h"
#include "server/web/hold_tables.h"

namespace swaplock {
namespace {

using Json = nlohmann::json;

// More lines than this are a table.
constexpr size_t kMostBars = 12;

Json ActorsJson(const std::vector<Actor>& actors) {
  Json out = Json::array();
  for (const Actor& actor : actors) {
    out.push_back({{"name", absl::StrCat(actor.comm, "[", actor.pid, "]")},
                   {"ns", actor.ns},
                   {"inversion", actor.inversion}});
  }
  return out;
}

}  // namespace

std::string PartsChart(const AllSeries& all) {
  std::vector<std::pair<uint64_t, std::vector<Json>>> bars;
  for (const auto& [key, series] : all) {
    const Cell& cell = series.cell;
    if (IsOperation(cell) || !CountsHolds(key.hold_tier)) continue;
    if (cell.hold.sum_ns == 0) continue;
    const std::string label =
        absl::StrCat(key.kernel, " ", key.preempt, " ", OperationOf(key.cell),
                     " ", LockOf(key.cell),
                     key.cell.algorithm.empty() ? "" : " ", key.cell.algorithm);
    const std::pair<const char*, uint64_t> parts[] = {
        {"on CPU", cell.on_cpu_ns},
        {"runnable, no CPU", cell.runnable.sum_ns},
        {"blocked", cell.blocked.sum_ns},
        {"unknown", cell.unknown_ns}};
    std::vector<Json> bar;
    for (const auto& [part, ns] : parts) {
      bar.push_back({{"label", label}, {"part", part}, {"ns", ns}});
    }
    bars.push_back({cell.hold.sum_ns, std::move(bar)});
  }
  std::stable_sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  Json data = Json::array();
  for (size_t i = 0; i < std::min(bars.size(), kMostBars); ++i) {
    for (Json& part : bars[i].second) data.push_back(std::move(part));
  }
  return Chart("parts", "What holders did while they held a lock", data);
}

std::string LongestChart(const FleetSnapshot& snapshot, absl::Time now) {
  const HoldTiers tiers(snapshot.state);
  Json data = Json::array();
  for (const TopHold& top : HoldsOfTheDay(snapshot.state, now, "")) {
    const Hold& hold = top.hold;
    Json share = nullptr;
    if (tiers.IsWhole(top) && hold.hold_ns > 0) {
      share = static_cast<double>(hold.runnable_ns) /
              static_cast<double>(hold.hold_ns);
    }
    data.push_back(
        {{"at_ms", top.end_unix_ns / 1'000'000},
         {"hold_ns", hold.hold_ns},
         {"runnable_share", share},
         {"group", absl::StrCat(top.kernel_release, " ", OperationOf(top.key))},
         {"holder", absl::StrCat(HolderName(hold), " on ", top.host_id)},
         {"link", HoldLink(top)}});
  }
  return Chart("longest",
               "The longest holds of the last 24 hours; fuller is more of it "
               "runnable without a CPU",
               data);
}

std::string HoldChart(const Hold& hold) {
  Json data = {{"holder", absl::StrCat(hold.comm, "[", hold.pid, "]")},
               {"waited_ns", hold.wait_ns},
               {"hold_ns", hold.hold_ns},
               {"parts",
                {{{"part", "on CPU"}, {"ns", hold.on_cpu_ns}},
                 {{"part", "runnable, no CPU"}, {"ns", hold.runnable_ns}},
                 {{"part", "blocked"}, {"ns", hold.blocked_ns}},
                 {{"part", "unknown"}, {"ns", hold.unknown_ns}}}},
               {"preemptors", ActorsJson(hold.preemptors)},
               {"waiters", ActorsJson(hold.waiters)}};
  return Chart("hold",
               "How long each part was; parts are drawn one after the other, "
               "not in the order in which they happened",
               data);
}

}  // namespace swaplock
