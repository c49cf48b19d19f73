// The process_* metrics that every Prometheus client exports, of this process,
// from /proc. What /proc does not show is absent.
#ifndef SWAPLOCK_SERVER_METRICS_PROCESS_METRICS_H_
#define SWAPLOCK_SERVER_METRICS_PROCESS_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

namespace swaplock {

std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_PROCESS_METRICS_H_
