// The families of /metrics as messages of the OpenTelemetry protocol.
#ifndef SWAPLOCK_SERVER_METRICS_OTLP_MESSAGE_H_
#define SWAPLOCK_SERVER_METRICS_OTLP_MESSAGE_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/otlp.pb.h"

namespace swaplock {

namespace otlp = opentelemetry::proto::collector::metrics::v1;

struct OtlpSource {
  std::string instance;  // service.instance.id
  // Since when counters count without a break, as far as a receiver is
  // concerned: of the ledger's own it is the server's start.
  absl::Time started;
};

// Data points in one request.
inline constexpr size_t kMaxOtlpPoints = 2000;

// Counters become cumulative monotonic sums, gauges gauges, histograms
// histograms with the same bounds, a summary without quantiles two sums
// (NAME_count, NAME_sum). Labels become attributes. A number that is NaN is
// left out. Families in their order, in as many requests as it takes.
std::vector<otlp::ExportMetricsServiceRequest> OtlpRequests(
    const std::vector<prometheus::MetricFamily>& families,
    const OtlpSource& source, absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_OTLP_MESSAGE_H_
