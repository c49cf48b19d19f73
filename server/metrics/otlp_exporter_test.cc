// What a collector gets, over gRPC.
#include "server/metrics/otlp_exporter.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "proto/otlp.grpc.pb.h"
#include "server/fleet/fleet.h"
#include "server/metrics/exporter.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

class Collector final : public otlp::MetricsService::Service {
 public:
  Collector() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  grpc::Status Export(grpc::ServerContext* /*context*/,
                      const otlp::ExportMetricsServiceRequest* request,
                      otlp::ExportMetricsServiceResponse* response) override {
    absl::MutexLock lock(&mutex_);
    for (const auto& resource : request->resource_metrics()) {
      for (const auto& scope : resource.scope_metrics()) {
        metrics_.insert(metrics_.end(), scope.metrics().begin(),
                        scope.metrics().end());
      }
    }
    response->mutable_partial_success()->set_rejected_data_points(rejected);
    return refuse ? grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full")
                  : grpc::Status::OK;
  }

  std::string Address() const { return absl::StrCat("127.0.0.1:", port_); }
  std::vector<otlp::Metric> metrics() {
    absl::MutexLock lock(&mutex_);
    return metrics_;
  }
  bool WaitForMetrics() {
    absl::MutexLock lock(&mutex_);
    const auto any = [this] { return !metrics_.empty(); };
    return mutex_.AwaitWithTimeout(absl::Condition(&any), absl::Minutes(1));
  }

  bool refuse = false;
  int64_t rejected = 0;

 private:
  int port_ = 0;
  absl::Mutex mutex_;
  std::vector<otlp::Metric> metrics_;
  std::unique_ptr<grpc::Server> server_;
};

OtlpOptions To(const std::string& endpoint) {
  OtlpOptions options;
  options.endpoint = endpoint;
  options.interval = absl::Hours(1);
  options.instance = "here";
  return options;
}

class OtlpExporterTest : public ::testing::Test {
 protected:
  OtlpExporterTest() {
    fleet_.Committed({MakeWindow("a", 1)}, {Outcome()},
                     absl::FromUnixNanos(kTestUnixNs), absl::Milliseconds(2));
  }
  OtlpExporter::Collect Collect() {
    return [this] { return exporter_.Collect(); };
  }

  Fleet fleet_{FleetState()};
  FakeDesk desk_;
  Exporter exporter_{&fleet_, &desk_, Clock()};
};

// Every number of /metrics, as a collector has it.
TEST_F(OtlpExporterTest, ACollectorGetsWhatMetricsShows) {
  Collector collector;
  OtlpExporter otlp(To(collector.Address()), Collect());
  ASSERT_TRUE(otlp.Export().ok());
  EXPECT_EQ(otlp.succeeded(), 1u);
  std::map<std::string, double> got;  // sums over series
  std::map<std::string, uint64_t> counts;
  for (const otlp::Metric& metric : collector.metrics()) {
    for (const auto& point : metric.sum().data_points()) {
      got[metric.name()] += point.as_double();
    }
    for (const auto& point : metric.histogram().data_points()) {
      uint64_t in_buckets = 0;
      for (const uint64_t count : point.bucket_counts()) in_buckets += count;
      EXPECT_EQ(in_buckets, point.count()) << metric.name();
      EXPECT_EQ(point.bucket_counts_size(), point.explicit_bounds_size() + 1);
      counts[metric.name()] += point.count();
    }
  }
  double acquisitions = 0;
  uint64_t holds = 0;
  for (const prometheus::MetricFamily& family : exporter_.Collect()) {
    for (const prometheus::ClientMetric& series : family.metric) {
      if (family.name == "swaplock_acquisitions_total") {
        acquisitions += series.counter.value;
      }
      if (family.name == "swaplock_hold_seconds") {
        holds += series.histogram.sample_count;
      }
    }
  }
  EXPECT_GT(acquisitions, 0);
  EXPECT_EQ(got["swaplock_acquisitions_total"], acquisitions);
  EXPECT_GT(holds, 0u);
  EXPECT_EQ(counts["swaplock_hold_seconds"], holds);
}

TEST_F(OtlpExporterTest, SendsByItself) {
  Collector collector;
  OtlpOptions options = To(collector.Address());
  options.interval = absl::Seconds(1);
  OtlpExporter otlp(options, Collect());
  EXPECT_TRUE(collector.WaitForMetrics());
}

TEST_F(OtlpExporterTest, WhatACollectorRefusesIsSaidAndCounted) {
  Collector collector;
  OtlpExporter otlp(To(collector.Address()), Collect());
  collector.rejected = 3;
  EXPECT_THAT(std::string(otlp.Export().message()),
              HasSubstr("3 data points were refused"));
  collector.refuse = true;
  EXPECT_THAT(std::string(otlp.Export().message()), HasSubstr("full"));
  EXPECT_EQ(otlp.failed(), 2u);
  EXPECT_EQ(otlp.succeeded(), 0u);
}

TEST_F(OtlpExporterTest, ACollectorThatIsAwayIsAnError) {
  OtlpExporter otlp(To("127.0.0.1:1"), Collect());
  EXPECT_FALSE(otlp.Export().ok());
  EXPECT_EQ(otlp.failed(), 1u);
}

TEST(CheckOtlpTest, AnotherMachineTakesTls) {
  EXPECT_TRUE(CheckOtlp(OtlpOptions()).ok());
  EXPECT_TRUE(CheckOtlp(To("127.0.0.1:4317")).ok());
  EXPECT_THAT(std::string(CheckOtlp(To("collector.example:4317")).message()),
              HasSubstr("is another machine, which takes --otlp_tls_ca"));
  OtlpOptions often = To("127.0.0.1:4317");
  often.interval = absl::Milliseconds(1);
  EXPECT_FALSE(CheckOtlp(often).ok());
}

}  // namespace
}  // namespace swaplock
