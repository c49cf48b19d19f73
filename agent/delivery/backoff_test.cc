#include "agent/delivery/backoff.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(BackoffTest, DoublesUpToTheCapAndStartsAgainAfterReset) {
  Backoff backoff(absl::Seconds(1), absl::Seconds(5), [] { return 1.0; });
  EXPECT_EQ(backoff.Next(), absl::Seconds(1));
  EXPECT_EQ(backoff.Next(), absl::Seconds(2));
  EXPECT_EQ(backoff.Next(), absl::Seconds(4));
  EXPECT_EQ(backoff.Next(), absl::Seconds(5));
  EXPECT_EQ(backoff.Next(), absl::Seconds(5));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), absl::Seconds(1));
}

TEST(BackoffTest, JitterCoversTheWholeRange) {
  Backoff lowest(absl::Seconds(1), absl::Seconds(5), [] { return 0.0; });
  EXPECT_EQ(lowest.Next(), absl::ZeroDuration());
  Backoff some(absl::Seconds(8), absl::Seconds(8));
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration wait = some.Next();
    ASSERT_GE(wait, absl::ZeroDuration());
    ASSERT_LT(wait, absl::Seconds(8));
    low |= wait < absl::Seconds(1);
    high |= wait > absl::Seconds(7);
  }
  EXPECT_TRUE(low && high);
}

}  // namespace
}  // namespace swaplock
