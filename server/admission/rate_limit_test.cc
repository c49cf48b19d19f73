#include "server/admission/rate_limit.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(RateLimitTest, LetsABurstThroughThenItsRate) {
  RateLimit limit(/*per_second=*/2, /*burst=*/3);
  absl::Time now = absl::UnixEpoch() + absl::Hours(1);
  EXPECT_TRUE(limit.IsFull(now));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take(now), absl::ZeroDuration());
  EXPECT_EQ(limit.Take(now), absl::Milliseconds(500));
  EXPECT_FALSE(limit.IsFull(now));
  now += absl::Milliseconds(500);
  EXPECT_EQ(limit.Take(now), absl::ZeroDuration());
  EXPECT_EQ(limit.Take(now), absl::Milliseconds(500));
  now += absl::Hours(1);
  EXPECT_TRUE(limit.IsFull(now));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take(now), absl::ZeroDuration());
  EXPECT_GT(limit.Take(now), absl::ZeroDuration());
}

TEST(RateLimitTest, AClockThatRunsBackwardsGivesNothing) {
  RateLimit limit(1, 1);
  const absl::Time now = absl::UnixEpoch() + absl::Hours(1);
  EXPECT_EQ(limit.Take(now), absl::ZeroDuration());
  EXPECT_GT(limit.Take(now - absl::Minutes(30)), absl::ZeroDuration());
  EXPECT_GT(limit.Take(now), absl::ZeroDuration());
}

}  // namespace
}  // namespace swaplock
