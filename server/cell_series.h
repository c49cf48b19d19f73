// The cells of the fleet as series: cohorts merged to the labels that /metrics
// and the page show, with what each series can and cannot say.
#ifndef SWAPLOCK_SERVER_CELL_SERIES_H_
#define SWAPLOCK_SERVER_CELL_SERIES_H_

#include <map>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "common/cell.h"
#include "server/fleet_state.h"
#include "server/kernel_label.h"

namespace swaplock {

struct SeriesKey {
  std::string kernel;  // a release or "other"
  std::string preempt;
  CellKey cell;  // device is empty
  Tier tier = Tier::kUnspecified;

  auto Tie() const { return std::tie(kernel, preempt, cell, tier); }
  bool operator<(const SeriesKey& other) const { return Tie() < other.Tie(); }
};

struct Series {
  Cell holds;  // everything but the waits; meaningful by the key's tier
  Cell waits;  // of the cells whose waits are measured
  bool waits_measured = false;
  // Within the kLongestHours before now.
  Longest longest;
};

std::map<SeriesKey, Series> SeriesOf(const FleetState& state,
                                     const KernelLabels& kernels,
                                     absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_CELL_SERIES_H_
