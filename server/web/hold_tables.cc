#include "server/web/hold_tables.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/window_table.h"
#include "server/web/hold_link.h"
#include "server/web/html.h"
#include "server/web/page_text.h"

namespace swaplock {
namespace {

// The holder, which opens on why its hold was long.
HtmlCell Holder(const Hold& hold) {
  HtmlCell cell = HolderName(hold);
  cell.details = HoldExplanation(hold, "");
  return cell;
}

// Parts of a hold that a tier without holds cannot tell are not 0.
std::vector<HtmlCell> PartsOf(const Hold& hold, bool whole) {
  return {TimeText(hold.hold_ns), If(whole, TimeText(hold.on_cpu_ns)),
          TimeText(hold.runnable_ns), TimeText(hold.blocked_ns),
          If(whole, TimeText(hold.unknown_ns))};
}

}  // namespace

HoldTiers::HoldTiers(const FleetState& state) {
  for (const auto& [cohort_key, cohort] : state.cohorts) {
    for (const auto& [key, cell] : cohort.cells) {
      Tier& tier =
          tiers_
              .emplace(std::make_pair(cohort_key.kernel_release, key.key),
                       key.hold_tier)
              .first->second;
      if (CountsHolds(key.hold_tier)) tier = key.hold_tier;
    }
  }
}

bool HoldTiers::IsWhole(const TopHold& top) const {
  CellKey key = top.key;
  key.device.clear();
  const auto tier = tiers_.find({top.kernel_release, key});
  return tier == tiers_.end() || CountsHolds(tier->second);
}

std::vector<TopHold> HoldsOfTheDay(const FleetState& state, absl::Time now,
                                   const std::string& host_id) {
  std::vector<TopHold> out;
  const int64_t oldest = absl::ToUnixNanos(now - absl::Hours(24));
  for (const TopHold& top : state.top_holds) {
    if (static_cast<int64_t>(top.end_unix_ns) < oldest) continue;
    if (!host_id.empty() && top.host_id != host_id) continue;
    out.push_back(top);
  }
  return out;
}

std::string LongestHoldsHtml(const FleetSnapshot& snapshot, absl::Time now,
                             const std::string& host_id) {
  HtmlTable table = {
      "Longest holds of the last 24 hours",
      {"hold", "on CPU", "runnable off CPU", "blocked", "unknown", "operation",
       "lock", "device", "preempted", "host", "kernel", "holder, and why"},
      {}};
  const HoldTiers tiers(snapshot.state);
  for (const TopHold& top : HoldsOfTheDay(snapshot.state, now, host_id)) {
    std::vector<HtmlCell> row = PartsOf(top.hold, tiers.IsWhole(top));
    row[0].link = HoldLink(top);
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

}  // namespace swaplock
