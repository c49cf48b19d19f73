#include "server/metrics/otlp_message.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

const absl::Time kStarted = absl::FromUnixSeconds(1000);
const absl::Time kNow = absl::FromUnixSeconds(1060);

MetricFamily FamilyOf(const std::string& name, MetricType type,
                      std::vector<ClientMetric> series) {
  MetricFamily family;
  family.name = name;
  family.help = "What it is.";
  family.type = type;
  family.metric = std::move(series);
  return family;
}

ClientMetric Counted(double value, const std::string& kernel = "6.18") {
  ClientMetric series;
  series.label = {{"kernel", kernel}};
  series.counter.value = value;
  series.gauge.value = value;
  return series;
}

std::vector<otlp::Metric> MetricsOf(
    const std::vector<otlp::ExportMetricsServiceRequest>& requests) {
  std::vector<otlp::Metric> out;
  for (const auto& request : requests) {
    for (const auto& resource : request.resource_metrics()) {
      for (const auto& scope : resource.scope_metrics()) {
        out.insert(out.end(), scope.metrics().begin(), scope.metrics().end());
      }
    }
  }
  return out;
}

std::vector<otlp::ExportMetricsServiceRequest> Made(
    const std::vector<MetricFamily>& families) {
  return OtlpRequests(families, {"host-a:7788", kStarted}, kNow);
}

TEST(OtlpMessageTest, CountersAreCumulativeSumsWithTheirStart) {
  const auto requests =
      Made({FamilyOf("swaplock_hold_on_cpu_seconds_total", MetricType::Counter,
                     {Counted(3.5), Counted(4, "7.3")})});
  const std::vector<otlp::Metric> metrics = MetricsOf(requests);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].name(), "swaplock_hold_on_cpu_seconds_total");
  EXPECT_EQ(metrics[0].description(), "What it is.");
  EXPECT_EQ(metrics[0].unit(), "s");
  const otlp::Sum& sum = metrics[0].sum();
  EXPECT_TRUE(sum.is_monotonic());
  EXPECT_EQ(sum.aggregation_temporality(),
            otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  ASSERT_EQ(sum.data_points_size(), 2);
  EXPECT_EQ(sum.data_points(0).as_double(), 3.5);
  EXPECT_EQ(sum.data_points(0).start_time_unix_nano(), 1'000'000'000'000u);
  EXPECT_EQ(sum.data_points(0).time_unix_nano(), 1'060'000'000'000u);
  EXPECT_EQ(sum.data_points(1).attributes(0).key(), "kernel");
  EXPECT_EQ(sum.data_points(1).attributes(0).value().string_value(), "7.3");
  const auto& resource = requests[0].resource_metrics(0).resource();
  std::map<std::string, std::string> attributes;
  for (const auto& a : resource.attributes()) {
    attributes[a.key()] = a.value().string_value();
  }
  EXPECT_EQ(attributes["service.name"], "swaplock-server");
  EXPECT_EQ(attributes["service.instance.id"], "host-a:7788");
}

TEST(OtlpMessageTest, GaugesHaveNoStartAndNaNIsLeftOut) {
  const std::vector<otlp::Metric> metrics = MetricsOf(
      Made({FamilyOf("swaplock_hosts", MetricType::Gauge,
                     {Counted(std::numeric_limits<double>::quiet_NaN()),
                      Counted(std::numeric_limits<double>::infinity())})}));
  ASSERT_EQ(metrics.size(), 1u);
  ASSERT_EQ(metrics[0].gauge().data_points_size(), 1);
  EXPECT_EQ(metrics[0].gauge().data_points(0).as_double(),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(metrics[0].gauge().data_points(0).start_time_unix_nano(), 0u);
}

TEST(OtlpMessageTest, HistogramsKeepTheirBoundsAndTheirBucketsAddUp) {
  ClientMetric series = Counted(0);
  series.histogram.sample_count = 10;
  series.histogram.sample_sum = 1.25;
  series.histogram.bucket = {
      {3, 0.001}, {7, 0.01}, {10, std::numeric_limits<double>::infinity()}};
  const std::vector<otlp::Metric> metrics = MetricsOf(Made(
      {FamilyOf("swaplock_wait_seconds", MetricType::Histogram, {series})}));
  ASSERT_EQ(metrics.size(), 1u);
  const otlp::HistogramDataPoint& point = metrics[0].histogram().data_points(0);
  EXPECT_EQ(point.count(), 10u);
  EXPECT_EQ(point.sum(), 1.25);
  ASSERT_EQ(point.explicit_bounds_size(), 2);
  EXPECT_EQ(point.explicit_bounds(1), 0.01);
  ASSERT_EQ(point.bucket_counts_size(), 3);
  EXPECT_EQ(point.bucket_counts(0), 3u);
  EXPECT_EQ(point.bucket_counts(1), 4u);
  EXPECT_EQ(point.bucket_counts(2), 3u);
}

TEST(OtlpMessageTest, ASummaryIsTwoSums) {
  ClientMetric series;
  series.summary.sample_count = 4;
  series.summary.sample_sum = 0.5;
  const std::vector<otlp::Metric> metrics = MetricsOf(Made({FamilyOf(
      "swaplock_commit_seconds", MetricType::Summary, {series, series})}));
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name(), "swaplock_commit_seconds_count");
  EXPECT_EQ(metrics[1].name(), "swaplock_commit_seconds_sum");
  EXPECT_EQ(metrics[1].sum().data_points_size(), 2);
  EXPECT_EQ(metrics[1].sum().data_points(0).as_double(), 0.5);
}

TEST(OtlpMessageTest, ManyPointsTakeSeveralRequestsAndNoneIsLost) {
  std::vector<ClientMetric> many;
  many.reserve(5000);
  for (int i = 0; i < 5000; ++i) {
    many.push_back(Counted(i, absl::StrCat(i)));
  }
  const auto requests = Made({FamilyOf("a", MetricType::Gauge, many)});
  EXPECT_EQ(requests.size(), 3u);
  int points = 0;
  for (const otlp::Metric& metric : MetricsOf(requests)) {
    EXPECT_EQ(metric.name(), "a");
    EXPECT_LE(metric.gauge().data_points_size(),
              static_cast<int>(kMaxOtlpPoints));
    points += metric.gauge().data_points_size();
  }
  EXPECT_EQ(points, 5000);
  EXPECT_TRUE(Made({}).empty());
}

}  // namespace
}  // namespace swaplock
