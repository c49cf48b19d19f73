#include "server/verdict/return_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

// Host-days of which a share passes 10 ms, by a generalised Pareto tail with a
// scale of 20 ms.
std::vector<std::vector<uint64_t>> Fleet(double shape, uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::vector<uint64_t>> hosts(400, std::vector<uint64_t>(7));
  for (auto& days : hosts) {
    for (uint64_t& ns : days) {
      if (random.Uniform() > 0.3) continue;
      const double u = random.Uniform();
      const double excess = shape == 0
                                ? -std::log(u) * 2e7
                                : 2e7 / shape * (std::pow(u, -shape) - 1);
      ns = static_cast<uint64_t>(1e7 + excess);
    }
  }
  return hosts;
}

TEST(ReturnLevelTest, FindsTheLevelOfAKnownTail) {
  const ReturnLevel level = LongestOf1000HostDays(Fleet(0.2, 1), 5);
  EXPECT_EQ(level.missing, "");
  EXPECT_EQ(level.host_days, 2800u);
  const double truth = 1e7 + 2e7 / 0.2 * (std::pow(300, 0.2) - 1);
  EXPECT_NEAR(level.level_ns / truth, 1, 0.2);
  EXPECT_NEAR(level.shape, 0.2, 0.1);
  EXPECT_LT(level.interval_ns.lower, level.level_ns);
  EXPECT_GT(level.interval_ns.upper, level.level_ns);
}

TEST(ReturnLevelTest, AnUnboundedTailHasNoLevel) {
  const ReturnLevel level = LongestOf1000HostDays(Fleet(1.2, 2), 5);
  EXPECT_EQ(level.level_ns, 0);
  EXPECT_THAT(level.missing, HasSubstr("unbounded"));
}

TEST(ReturnLevelTest, FewOrNoLongHoldsGiveABoundNotZero) {
  const ReturnLevel few = LongestOf1000HostDays({{0, 20'000'000}, {0, 0}}, 5);
  EXPECT_THAT(few.missing, HasSubstr("1 host-days"));
  EXPECT_EQ(few.longest_ns, 20'000'000u);
  const ReturnLevel none =
      LongestOf1000HostDays(std::vector<std::vector<uint64_t>>(100, {0, 0}), 5);
  EXPECT_NEAR(none.share_bound, 0.015, 1e-12);
  EXPECT_EQ(LongestOf1000HostDays({}, 5).host_days, 0u);
}

}  // namespace
}  // namespace swaplock
