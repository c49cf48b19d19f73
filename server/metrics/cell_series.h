// The cells of the fleet as series: cohorts merged to the labels that /metrics
// and the page show. Hosts that measure waits and hosts that cannot are never
// in one series, or a rate of waits would count operations nobody watched.
#ifndef SWAPLOCK_SERVER_METRICS_CELL_SERIES_H_
#define SWAPLOCK_SERVER_METRICS_CELL_SERIES_H_

#include <map>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "common/cell.h"
#include "server/fleet/fleet_state.h"
#include "server/metrics/kernel_label.h"

namespace swaplock {

struct SeriesKey {
  std::string kernel;  // a release or "other"
  std::string preempt;
  CellKey cell;  // device is empty
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;
  // Of operations only: what the lock that they take costs is the question.
  // Elsewhere it may differ within a series, and series.cell has it if not.
  LockModel lock_model = LockModel::kUnspecified;

  auto Tie() const {
    return std::tie(kernel, preempt, cell, hold_tier, wait_tier, latency_tier,
                    lock_model);
  }
  bool operator<(const SeriesKey& other) const { return Tie() < other.Tie(); }
};

struct Series {
  Cell cell;  // its numbers are meaningful by the key's tiers
  // Within the kLongestHours before now.
  Longest longest;
};

std::map<SeriesKey, Series> SeriesOf(const FleetState& state,
                                     const KernelLabels& kernels,
                                     absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_CELL_SERIES_H_
