#include "server/metrics/cell_series.h"

namespace swaplock {

std::map<SeriesKey, Series> SeriesOf(const FleetState& state,
                                     const KernelLabels& kernels,
                                     absl::Time now) {
  std::map<SeriesKey, Series> out;
  for (const auto& [cohort_key, cohort] : state.cohorts) {
    for (const auto& [key, cell] : cohort.cells) {
      Series& series = out[{
          kernels.Of(cohort_key.kernel_release), cohort_key.preempt, key.key,
          key.hold_tier, key.wait_tier, key.latency_tier,
          IsOperation(cell.cell) ? key.lock_model : LockModel::kUnspecified}];
      series.cell.Merge(cell.cell);
      for (const auto& [hour, longest] : cell.longest_by_hour) {
        if (hour <= HourOf(now) - kLongestHours) continue;
        series.longest.Merge(longest);
      }
    }
  }
  return out;
}

}  // namespace swaplock
