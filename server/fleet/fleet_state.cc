#include "server/fleet/fleet_state.h"

#include <algorithm>

namespace swaplock {
namespace {

int64_t FloorDivide(absl::Time time, absl::Duration step) {
  return absl::FDivDuration(time - absl::UnixEpoch(), step) < 0
             ? 0
             : (time - absl::UnixEpoch()) / step;
}

}  // namespace

CohortCellKey CohortKeyOf(const Cell& cell) {
  CohortCellKey out = {cell.key, cell.lock_model, cell.hold_tier,
                       cell.wait_tier, cell.latency_tier};
  out.key.device.clear();
  return out;
}

void Longest::Merge(const Longest& other) {
  wait_ns = std::max(wait_ns, other.wait_ns);
  if (other.hold_ns > hold_ns) {
    hold_ns = other.hold_ns;
    hold_runnable_ns = other.hold_runnable_ns;
  }
}

absl::Time CountedAt(const Window& window, absl::Time now) {
  // Unsigned nanoseconds beyond year 2262 would read as negative.
  if (window.end_unix_ns > static_cast<uint64_t>(INT64_MAX)) return now;
  const absl::Time end =
      absl::FromUnixNanos(static_cast<int64_t>(window.end_unix_ns));
  if (end > now + absl::Hours(1) || end < now - absl::Hours(30 * 24)) {
    return now;
  }
  return end;
}

int64_t HourOf(absl::Time time) { return FloorDivide(time, absl::Hours(1)); }
int64_t DayOf(absl::Time time) { return FloorDivide(time, absl::Hours(24)); }

Longest LongestOf(const Window& window, size_t cell) {
  Longest out;
  out.wait_ns = window.cells[cell].wait.max_ns;
  out.hold_ns = window.cells[cell].hold.max_ns;
  for (const Hold& hold : window.top_holds) {
    if (hold.cell == cell && hold.hold_ns == out.hold_ns && out.hold_ns > 0) {
      out.hold_runnable_ns = hold.runnable_ns;
      break;
    }
  }
  return out;
}

void TrimTopHolds(absl::Time now, std::vector<TopHold>* holds) {
  // A total order where lengths are equal: a restart keeps the same ones.
  std::stable_sort(holds->begin(), holds->end(),
                   [](const TopHold& a, const TopHold& b) {
                     return std::tie(b.hold.hold_ns, a.end_unix_ns, a.host_id) <
                            std::tie(a.hold.hold_ns, b.end_unix_ns, b.host_id);
                   });
  std::map<int64_t, size_t> kept;
  const auto day_of = [](const TopHold& hold) {
    return DayOf(absl::FromUnixNanos(static_cast<int64_t>(hold.end_unix_ns)));
  };
  holds->erase(std::remove_if(holds->begin(), holds->end(),
                              [&](const TopHold& hold) {
                                const int64_t day = day_of(hold);
                                return day < DayOf(now) - 1 ||
                                       ++kept[day] > kTopHoldsPerDay;
                              }),
               holds->end());
}

void Merge(const Window& window, const Outcome& outcome, absl::Time now,
           FleetState* state) {
  if (outcome.duplicate) {
    ++state->windows_duplicate;
    return;
  }
  ++state->windows_merged;
  state->windows_missing += outcome.missing;
  state->agent_cpu_ns += window.overhead.agent_cpu_ns;
  for (const auto& [reason, events] : window.losses) {
    state->losses[reason] += events;
  }
  const absl::Time counted_at = CountedAt(window, now);
  const auto counted_unix_ns =
      static_cast<uint64_t>(absl::ToUnixNanos(counted_at));

  HostRecord& host = state->hosts[window.key.host_id];
  ++host.windows;
  if (counted_unix_ns >= host.last_seen_unix_ns) {
    host.environment = window.environment;
    host.last_seen_unix_ns = counted_unix_ns;
    host.coverage = window.coverage;
  }

  Cohort& cohort = state->cohorts[{window.environment.kernel_release,
                                   window.environment.preempt}];
  ++cohort.windows;
  for (size_t i = 0; i < window.cells.size(); ++i) {
    const CohortCellKey key = CohortKeyOf(window.cells[i]);
    CohortCell& into = cohort.cells[key];
    into.cell.Merge(window.cells[i]);
    into.cell.key = key.key;
    into.longest_by_hour[HourOf(counted_at)].Merge(LongestOf(window, i));
    into.longest_by_hour.erase(
        into.longest_by_hour.begin(),
        into.longest_by_hour.lower_bound(HourOf(now) - kLongestHours + 1));
  }
  for (const Hold& hold : window.top_holds) {
    CellKey key = window.cells[hold.cell].key;
    state->top_holds.push_back({window.key.host_id,
                                window.environment.kernel_release,
                                std::move(key), hold, counted_unix_ns});
    state->top_holds.back().hold.cell = 0;
  }
  if (!window.top_holds.empty()) TrimTopHolds(now, &state->top_holds);
}

}  // namespace swaplock
