// Sends what /metrics shows to an OpenTelemetry collector from time to time.
// Nobody waits for it: a collector that is away is a line in the log and a
// count.
#ifndef SWAPLOCK_SERVER_METRICS_OTLP_EXPORTER_H_
#define SWAPLOCK_SERVER_METRICS_OTLP_EXPORTER_H_

#include <prometheus/metric_family.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/channel.h"
#include "server/metrics/otlp_message.h"

namespace swaplock {

struct OtlpOptions {
  std::string endpoint;  // host:port; empty: nothing is sent
  absl::Duration interval = absl::Minutes(1);
  ChannelIdentity identity;  // plaintext to this machine only
  std::string instance;      // service.instance.id
};

// InvalidArgument, in one sentence, for what cannot be used.
absl::Status CheckOtlp(const OtlpOptions& options);

// Thread-safe.
class OtlpExporter {
 public:
  using Collect = std::function<std::vector<prometheus::MetricFamily>()>;

  // `collect` may be called until the end of its life. Begins with the first
  // interval.
  OtlpExporter(OtlpOptions options, Collect collect);
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Sends now; Unavailable or what the collector answered. Within 10 s.
  absl::Status Export();

  // Exports that went well, and that did not.
  uint64_t succeeded() const { return succeeded_; }
  uint64_t failed() const { return failed_; }

 private:
  void Run();
  absl::Status Send();

  const OtlpOptions options_;
  const Collect collect_;
  const OtlpSource source_;
  std::atomic<uint64_t> succeeded_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_OTLP_EXPORTER_H_
