// The series of /metrics on verdicts, rollouts, incidents and the self-test.
#ifndef SWAPLOCK_SERVER_METRICS_VERDICT_SERIES_H_
#define SWAPLOCK_SERVER_METRICS_VERDICT_SERIES_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "server/metrics/kernel_label.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

// Of so many kernel pairs, the worst first; the page and the API have all.
inline constexpr size_t kVerdictPairs = 16;
// A pair that was not judged for so long is gone.
inline constexpr absl::Duration kVerdictExpiry = absl::Hours(24 * 14);

// In the order of metric_names.h; families without a series are left out. Both
// kernels of a pair have to be among `kernels`.
std::vector<prometheus::MetricFamily> VerdictFamilies(
    const VerdictBook& book, const KernelLabels& kernels, absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_VERDICT_SERIES_H_
