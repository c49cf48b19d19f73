#include "server/verdict/quantile_ratio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "common/histogram.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

// 2,000 exponential waits per host, whose own scale varies by e^(spread * u).
std::vector<HostBuckets> Fleet(int hosts, double mean_ns, double spread,
                               uint64_t seed) {
  SeededRandom random(seed);
  std::vector<HostBuckets> out;
  for (int i = 0; i < hosts; ++i) {
    const double scale = mean_ns * std::exp(spread * (random.Uniform() - 0.5));
    std::map<int, uint64_t> counts;
    for (int j = 0; j < 2000; ++j) {
      const double ns = -std::log(random.Uniform()) * scale;
      ++counts[Histogram::IndexOf(static_cast<uint64_t>(ns))];
    }
    HostBuckets host;
    for (const auto& [index, count] : counts) host.push_back({index, count});
    out.push_back(std::move(host));
  }
  return out;
}

TEST(QuantileRatioTest, FindsAKnownQuantileAndRatio) {
  const PooledQuantile base = QuantileOf(Fleet(30, 1e6, 0, 1), 0.99);
  const PooledQuantile newer = QuantileOf(Fleet(30, 3e6, 0, 2), 0.99);
  ASSERT_EQ(base.missing, "");
  EXPECT_NEAR(base.ns / (1e6 * std::log(100)), 1, 0.05);
  EXPECT_LE(base.interval_ns.lower, base.ns);
  EXPECT_GE(base.interval_ns.upper, base.ns);
  const QuantileRatio ratio = RatioOf(newer, base);
  EXPECT_NEAR(ratio.ratio, 3, 0.2);
  EXPECT_LT(ratio.interval.lower, 3);
  EXPECT_GT(ratio.interval.upper, 3);
}

TEST(QuantileRatioTest, HostsThatDifferWidenTheInterval) {
  const auto width = [](const PooledQuantile& q) {
    return q.interval_ns.upper / q.interval_ns.lower;
  };
  EXPECT_GT(width(QuantileOf(Fleet(30, 1e6, 3, 3), 0.99)),
            1.2 * width(QuantileOf(Fleet(30, 1e6, 0, 3), 0.99)));
}

// At the interval's nominal 90 %, with hosts that differ.
TEST(QuantileRatioTest, IntervalCoversTheTruth) {
  int covered = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const QuantileRatio ratio =
        RatioOf(QuantileOf(Fleet(15, 1e6, 1, 1000 + seed), 0.9),
                QuantileOf(Fleet(15, 1e6, 1, 2000 + seed), 0.9));
    ASSERT_EQ(ratio.missing, "");
    covered += ratio.interval.lower <= 1 && ratio.interval.upper >= 1;
  }
  EXPECT_GE(covered, 24);
}

TEST(QuantileRatioTest, SaysWhatIsMissing) {
  EXPECT_THAT(QuantileOf(Fleet(9, 1e6, 0, 4), 0.99).missing,
              HasSubstr("from 9 hosts"));
  EXPECT_THAT(QuantileOf(Fleet(30, 1e6, 0, 4), 0.9999).missing,
              HasSubstr("1000000 from 10 are needed"));
  std::vector<HostBuckets> hosts = Fleet(20, 1e6, 0, 5);
  hosts[0] = {{200, 1'000'000}};
  EXPECT_THAT(QuantileOf(hosts, 0.99).missing, HasSubstr("one host has"));
  EXPECT_EQ(RatioOf(QuantileOf({}, 0.99), QuantileOf(hosts, 0.99)).ratio, 0);
}

}  // namespace
}  // namespace swaplock
