#include "server/verdict/host_window.h"

#include <algorithm>
#include <set>
#include <utility>

namespace swaplock {
namespace {

// One operation of one window while rows are added.
struct Sum {
  std::map<Role, uint64_t> acquisitions;
  std::map<LockModel, uint64_t> models;
  std::set<WaitSight> sights;
  bool unmeasured = false;
  bool episodes_unknown = false;
  bool parts = true;
  bool lock_rows = false;
  bool latency = false;
  bool lock_free = false;
  OperationCounts counts;
  std::map<int64_t, uint64_t> longest;  // by day
};

void AddRow(const HostDayCell& row, Sum* sum) {
  OperationCounts& counts = sum->counts;
  if (row.role == Role::kUnspecified &&
      row.latency_tier != Tier::kUnspecified) {
    sum->latency = true;
    sum->lock_free |= row.lock_model == LockModel::kNone;
    counts.timed_operations += row.timed_operations;
    counts.slow_operations += row.slow_operations;
    return;
  }
  sum->lock_rows = true;
  sum->acquisitions[row.role] += row.acquisitions;
  sum->models[row.lock_model] += row.acquisitions;
  const std::optional<WaitSight> sight =
      SightOf(row.lock_model, row.hold_tier, row.wait_tier);
  if (sight.has_value()) {
    sum->sights.insert(*sight);
  } else {
    sum->unmeasured = true;
  }
  sum->parts &= CountsHolds(row.hold_tier);
  counts.contended += row.contended;
  counts.waits_over_1ms += row.waits_over_1ms;
  counts.waits_over_10ms += row.waits_over_10ms;
  counts.waits_over_100ms += row.waits_over_100ms;
  counts.episodes_over_10ms += row.episodes_over_10ms;
  sum->episodes_unknown |=
      row.waits_over_10ms > 0 && row.episodes_over_10ms == 0;
  counts.censored += row.censored;
  counts.wait_ns += row.wait_ns;
  counts.hold_ns += row.hold_ns;
  counts.runnable_ns += row.runnable_ns;
  counts.longest_runnable_ns =
      std::max(counts.longest_runnable_ns, row.longest_runnable_ns);
  if (row.longest_hold_ns > 0) {
    uint64_t& longest = sum->longest[row.day];
    longest = std::max(longest, row.longest_hold_ns);
  }
}

OperationCounts Finished(Sum sum) {
  OperationCounts& counts = sum.counts;
  counts.measured.latency = sum.latency;
  if (sum.episodes_unknown) counts.episodes_over_10ms = 0;
  if (!sum.lock_rows && sum.lock_free) {
    // No lock at all: nobody can wait, and that is known.
    counts.measured.lock_model = LockModel::kNone;
    counts.measured.waits = WaitSight::kImpossible;
    counts.operations = counts.timed_operations;
    return counts;
  }
  for (const auto& [role, acquisitions] : sum.acquisitions) {
    counts.operations = std::max(counts.operations, acquisitions);
  }
  uint64_t most = 0;
  for (const auto& [model, acquisitions] : sum.models) {
    if (acquisitions >= most) counts.measured.lock_model = model;
    most = std::max(most, acquisitions);
  }
  if (sum.sights.size() > 1) sum.sights.erase(WaitSight::kImpossible);
  if (!sum.unmeasured && sum.sights.size() == 1) {
    counts.measured.waits = *sum.sights.begin();
  }
  counts.measured.parts = sum.lock_rows && sum.parts;
  for (const auto& [day, longest] : sum.longest) {
    counts.daily_longest_hold_ns.push_back(longest);
  }
  return counts;
}

}  // namespace

HostRows::HostRows(const HostHistory& history, int64_t today) {
  for (const HostDay& day : history.days) {
    if (day.day > today) continue;
    HostDay& sum = days_[day.day][day.kernel_release];
    sum.hours += day.hours;
    sum.events_lost += day.events_lost;
  }
  for (const HostDayCell& cell : history.cells) {
    if (cell.day > today) continue;
    cells_[cell.day][cell.kernel_release].push_back(&cell);
  }
}

std::optional<HostWindow> HostRows::WindowOf(const std::string& kernel,
                                             int64_t first, int days) const {
  HostWindow window;
  window.first_day = first;
  window.days = days;
  std::map<OperationKey, Sum> sums;
  for (int64_t day = first; day < first + days; ++day) {
    const auto measured = days_.find(day);
    if (measured != days_.end()) {
      const auto it = measured->second.find(kernel);
      if (it != measured->second.end()) {
        window.hours += it->second.hours;
        window.events_lost += it->second.events_lost;
      }
    }
    const auto rows = cells_.find(day);
    if (rows == cells_.end()) continue;
    const auto it = rows->second.find(kernel);
    if (it == rows->second.end()) continue;
    for (const HostDayCell* row : it->second) {
      AddRow(*row, &sums[{row->subsystem, row->operation}]);
    }
  }
  if (window.hours <= 0) return std::nullopt;
  for (auto& [key, sum] : sums) {
    window.operations.emplace(key, Finished(std::move(sum)));
  }
  return window;
}

bool HostRows::MeasuredFrom(int64_t day) const {
  return days_.lower_bound(day) != days_.end();
}

}  // namespace swaplock
