#include "cli/workload/workload_text.h"

#include <gtest/gtest.h>

#include <string>

namespace swaplock {
namespace {

WorkloadOptions Options(WorkloadKind kind) {
  WorkloadOptions options;
  options.kind = kind;
  FillDefaults(2, &options);
  return options;
}

TEST(WorkloadFacts, SayHowItWasSetUp) {
  WorkloadOptions options = Options(WorkloadKind::kZramInversion);
  options.seed = 9;
  options.slow_holder = absl::Milliseconds(50);
  const auto facts = WorkloadFacts(options, "lz4", 2);
  EXPECT_EQ(facts.at("workload"), "zram-inversion");
  EXPECT_EQ(facts.at("codec"), "lz4");
  EXPECT_EQ(facts.at("workers"), "4");
  EXPECT_EQ(facts.at("workers_nice"), "19");
  EXPECT_EQ(facts.at("workers_do"), "write");
  EXPECT_EQ(facts.at("readers_nice"), "-19");
  EXPECT_EQ(facts.at("seconds"), "12");
  EXPECT_EQ(facts.at("vcpus"), "2");
  EXPECT_EQ(facts.at("seed"), "9");
  EXPECT_EQ(facts.at("slow_holder_ms"), "50");
  EXPECT_EQ(facts.count("page_cluster"), 0u);
}

TEST(WorkloadFacts, OfZswapNameThePageCluster) {
  const auto facts =
      WorkloadFacts(Options(WorkloadKind::kZswapInversion), "zstd", 1);
  EXPECT_EQ(facts.at("page_cluster"), "0");
  EXPECT_EQ(facts.at("workers_nice"), "10");
  EXPECT_EQ(facts.count("slow_holder_ms"), 0u);
  EXPECT_EQ(facts.count("block_kib"), 0u);
}

TEST(WorkloadText, ShowsWhatWasMeasuredAndNeverAZeroForNothing) {
  TaskOutcome outcome;
  outcome.ran = absl::Seconds(2);
  Measurement reads;
  reads.name = "high_priority_read";
  reads.threads = 2;
  reads.nice = -19;
  for (int i = 0; i < 3; ++i) reads.Add(1'000'000);
  reads.Add(20'000'000);
  Measurement nothing;
  nothing.name = "low_priority_write";
  nothing.threads = 4;
  nothing.nice = 19;
  outcome.measurements = {reads, nothing};
  const std::string text = WorkloadText(
      WorkloadFacts(Options(WorkloadKind::kZramInversion), "zstd", 2), outcome);
  EXPECT_EQ(
      text,
      R"(zram-inversion: zstd, 4 workers at nice 19, 2 hogs at nice 0, 2 readers at nice -19; 2.0 s on 2 CPUs, seed 1
                    tasks  nice  count  per second    mean   stdev     p50     p99  p99.99  slowest  >1ms  >10ms  >100ms
high_priority_read      2   -19      4         2.0  5.75ms  8.23ms  1.02ms  20.0ms  20.0ms   20.0ms     1      1       0
low_priority_write      4    19      0         0.0       -       -       -       -       -        -     0      0       0
)");
}

}  // namespace
}  // namespace swaplock
