// What /metrics shows, made from the fleet's state at each scrape: nothing is
// mirrored into counters of its own, so nothing can drift.
#ifndef SWAPLOCK_SERVER_METRICS_EXPORTER_H_
#define SWAPLOCK_SERVER_METRICS_EXPORTER_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "server/fleet/fleet.h"
#include "server/metrics/otlp_exporter.h"
#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

// All families but process_*; in the order of metric_names.h. Families without
// a series are left out. The snapshot is one of Fleet::ForMetrics.
std::vector<prometheus::MetricFamily> RenderMetrics(
    const FleetSnapshot& snapshot, const VerdictBook& book, absl::Time now);

// Thread-safe. `fleet` and `verdicts` outlive it.
class Exporter : public prometheus::Collectable {
 public:
  Exporter(Fleet* fleet, const VerdictDesk* verdicts, Clock clock)
      : fleet_(fleet), verdicts_(verdicts), clock_(std::move(clock)) {}

  // Also shows how `otlp` fares, from then on; it outlives the last scrape.
  void Watch(const OtlpExporter* otlp) { otlp_ = otlp; }

  std::vector<prometheus::MetricFamily> Collect() const override;
  // The same in the text format.
  std::string Text() const;

 private:
  Fleet* const fleet_;
  const VerdictDesk* const verdicts_;
  const Clock clock_;
  std::atomic<const OtlpExporter*> otlp_ = nullptr;  // null: nothing is sent
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_EXPORTER_H_
