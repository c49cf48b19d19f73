#include "server/metrics/otlp_message.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/version.h"

namespace swaplock {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

uint64_t UnixNs(absl::Time time) {
  return static_cast<uint64_t>(absl::ToUnixNanos(time));
}

void AddAttribute(const std::string& key, const std::string& value,
                  google::protobuf::RepeatedPtrField<otlp::KeyValue>* out) {
  otlp::KeyValue* attribute = out->Add();
  attribute->set_key(key);
  attribute->mutable_value()->set_string_value(value);
}

// By the convention of the names: NAME_seconds, NAME_bytes, with _total or not.
const char* UnitOf(const std::string& name) {
  if (absl::StrContains(name, "_seconds")) return "s";
  if (absl::StrContains(name, "_bytes")) return "By";
  return "1";
}

class Requests {
 public:
  Requests(const OtlpSource& source, absl::Time now)
      : source_(source), now_ns_(UnixNs(now)) {}

  void Add(const MetricFamily& family) {
    for (const ClientMetric& series : family.metric) {
      switch (family.type) {
        case MetricType::Counter:
          AddSum(family, family.name, series, series.counter.value);
          break;
        case MetricType::Gauge:
          AddGauge(family, series);
          break;
        case MetricType::Histogram:
          AddHistogram(family, series);
          break;
        case MetricType::Summary:
          AddSum(family, absl::StrCat(family.name, "_count"), series,
                 static_cast<double>(series.summary.sample_count));
          AddSum(family, absl::StrCat(family.name, "_sum"), series,
                 series.summary.sample_sum);
          break;
        case MetricType::Untyped:
          break;  // there is none
      }
    }
  }

  std::vector<otlp::ExportMetricsServiceRequest> Take() {
    return std::move(requests_);
  }

 private:
  // The metric of the name in the request that has room for one more point.
  otlp::Metric* MetricOf(const MetricFamily& family, const std::string& name) {
    if (points_ == kMaxOtlpPoints || requests_.empty()) Begin();
    ++points_;
    otlp::ScopeMetrics* scope =
        requests_.back().mutable_resource_metrics(0)->mutable_scope_metrics(0);
    // Points of one family follow each other, but for the two of a summary.
    for (int i = scope->metrics_size(); i-- > 0;) {
      if (scope->metrics(i).name() == name) return scope->mutable_metrics(i);
      if (i + 2 <= scope->metrics_size() - 1) break;
    }
    otlp::Metric* metric = scope->add_metrics();
    metric->set_name(name);
    metric->set_description(family.help);
    metric->set_unit(UnitOf(name));
    return metric;
  }

  void Begin() {
    points_ = 0;
    otlp::ResourceMetrics* resource =
        requests_.emplace_back().add_resource_metrics();
    auto* attributes = resource->mutable_resource()->mutable_attributes();
    AddAttribute("service.name", "swaplock-server", attributes);
    AddAttribute("service.version", std::string(kVersion), attributes);
    AddAttribute("service.instance.id", source_.instance, attributes);
    otlp::InstrumentationScope* scope =
        resource->add_scope_metrics()->mutable_scope();
    scope->set_name("swaplock");
    scope->set_version(std::string(kVersion));
  }

  template <typename Point>
  void Fill(const ClientMetric& series, Point* point) const {
    for (const ClientMetric::Label& label : series.label) {
      AddAttribute(label.name, label.value, point->mutable_attributes());
    }
    point->set_time_unix_nano(now_ns_);
  }

  void AddSum(const MetricFamily& family, const std::string& name,
              const ClientMetric& series, double value) {
    if (std::isnan(value)) return;
    otlp::Sum* sum = MetricOf(family, name)->mutable_sum();
    sum->set_is_monotonic(true);
    sum->set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
    otlp::NumberDataPoint* point = sum->add_data_points();
    Fill(series, point);
    point->set_start_time_unix_nano(UnixNs(source_.started));
    point->set_as_double(value);
  }

  void AddGauge(const MetricFamily& family, const ClientMetric& series) {
    if (std::isnan(series.gauge.value)) return;
    otlp::NumberDataPoint* point =
        MetricOf(family, family.name)->mutable_gauge()->add_data_points();
    Fill(series, point);
    point->set_as_double(series.gauge.value);
  }

  void AddHistogram(const MetricFamily& family, const ClientMetric& series) {
    otlp::Histogram* histogram =
        MetricOf(family, family.name)->mutable_histogram();
    histogram->set_aggregation_temporality(
        otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
    otlp::HistogramDataPoint* point = histogram->add_data_points();
    Fill(series, point);
    point->set_start_time_unix_nano(UnixNs(source_.started));
    point->set_count(series.histogram.sample_count);
    point->set_sum(series.histogram.sample_sum);
    // Prometheus' counts are cumulative, and its last bound is infinite.
    uint64_t below = 0;
    for (const ClientMetric::Bucket& bucket : series.histogram.bucket) {
      if (std::isinf(bucket.upper_bound)) continue;
      point->add_explicit_bounds(bucket.upper_bound);
      point->add_bucket_counts(bucket.cumulative_count - below);
      below = bucket.cumulative_count;
    }
    point->add_bucket_counts(series.histogram.sample_count - below);
  }

  const OtlpSource& source_;
  const uint64_t now_ns_;
  std::vector<otlp::ExportMetricsServiceRequest> requests_;
  size_t points_ = 0;  // in the last one
};

}  // namespace

std::vector<otlp::ExportMetricsServiceRequest> OtlpRequests(
    const std::vector<prometheus::MetricFamily>& families,
    const OtlpSource& source, absl::Time now) {
  Requests requests(source, now);
  for (const MetricFamily& family : families) requests.Add(family);
  return requests.Take();
}

}  // namespace swaplock
