#include "common/log.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(LogTest, LineHasUtcTimeLevelAndMessage) {
  const absl::Time time =
      absl::FromUnixSeconds(1'700'000'000) + absl::Milliseconds(7);
  EXPECT_EQ(FormatLogLine(time, LogLevel::kWarning, "spool: full"),
            "2023-11-14T22:13:20.007Z W spool: full");
}

TEST(LogTest, MessageNeverMakesASecondLine) {
  EXPECT_EQ(FormatLogLine(absl::UnixEpoch(), LogLevel::kError, "a\nb\x1b[2J"),
            "1970-01-01T00:00:00.000Z E a?b?[2J");
}

TEST(LogSiteTest, OneLinePerPeriodThatCountsTheOthers) {
  LogSite site(absl::Minutes(1));
  const absl::Time start = absl::FromUnixSeconds(1'000'000);
  uint64_t left_out = 9;
  EXPECT_TRUE(site.Admit(start, &left_out));
  EXPECT_EQ(left_out, 0u);
  EXPECT_FALSE(site.Admit(start + absl::Seconds(1), &left_out));
  EXPECT_FALSE(site.Admit(start + absl::Seconds(59), &left_out));
  EXPECT_TRUE(site.Admit(start + absl::Seconds(60), &left_out));
  EXPECT_EQ(left_out, 2u);
}

TEST(LogSiteTest, SpeaksAgainAfterTheClockSteppedBack) {
  LogSite site(absl::Minutes(1));
  uint64_t left_out = 0;
  EXPECT_TRUE(site.Admit(absl::FromUnixSeconds(1'000'000), &left_out));
  EXPECT_TRUE(site.Admit(absl::FromUnixSeconds(10), &left_out));
}

}  // namespace
}  // namespace swaplock
