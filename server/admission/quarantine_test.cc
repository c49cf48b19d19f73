#include "server/admission/quarantine.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1000);

// Refuses as many windows as it takes; true if the last one did it.
bool Misbehave(Quarantine* quarantine, const std::string& host,
               absl::Time now) {
  for (int i = 1; i < Quarantine::kRefusals; ++i) {
    EXPECT_FALSE(quarantine->Refused(host, "implausible: x", now));
    EXPECT_EQ(quarantine->LeftOf(host, now), absl::ZeroDuration());
  }
  return quarantine->Refused(host, "implausible: y", now).has_value();
}

TEST(QuarantineTest, WhatWasStoredGoesOnAndTheNextTimeIsLonger) {
  Quarantine before;
  for (int i = 1; i < Quarantine::kRefusals; ++i) {
    before.Refused("a", "implausible: x", kStart);
  }
  const auto stored = before.Refused("a", "implausible: y", kStart);
  ASSERT_TRUE(stored.has_value());
  Quarantine after;
  after.Restore({*stored});
  EXPECT_EQ(after.LeftOf("a", kStart + absl::Minutes(20)), absl::Minutes(40));
  EXPECT_EQ(after.ReasonOf("a", kStart), "implausible: y");
  EXPECT_TRUE(Misbehave(&after, "a", kStart + absl::Hours(1)));
  EXPECT_EQ(after.LeftOf("a", kStart + absl::Hours(1)), absl::Hours(2));
}

TEST(QuarantineTest, WhoIsReleasedBeginsAnew) {
  Quarantine quarantine;
  EXPECT_FALSE(quarantine.Release("a", kStart));
  ASSERT_TRUE(Misbehave(&quarantine, "a", kStart));
  EXPECT_TRUE(quarantine.Release("a", kStart));
  EXPECT_EQ(quarantine.LeftOf("a", kStart), absl::ZeroDuration());
  EXPECT_FALSE(quarantine.Release("a", kStart));
  ASSERT_TRUE(Misbehave(&quarantine, "a", kStart));
  EXPECT_EQ(quarantine.LeftOf("a", kStart), absl::Hours(1));
}

TEST(QuarantineTest, SetsAsideLongerEachTime) {
  Quarantine quarantine;
  absl::Time now = kStart;
  EXPECT_TRUE(Misbehave(&quarantine, "a", now));
  EXPECT_EQ(quarantine.LeftOf("a", now), absl::Hours(1));
  EXPECT_EQ(quarantine.ReasonOf("a", now), "implausible: y");
  EXPECT_EQ(quarantine.LeftOf("b", now), absl::ZeroDuration());
  ASSERT_EQ(quarantine.List(now).size(), 1u);
  EXPECT_EQ(quarantine.List(now)[0].refused, 8u);
  now += absl::Minutes(59);
  EXPECT_EQ(quarantine.LeftOf("a", now), absl::Minutes(1));
  now += absl::Minutes(1);
  EXPECT_EQ(quarantine.LeftOf("a", now), absl::ZeroDuration());
  EXPECT_EQ(quarantine.ReasonOf("a", now), "");
  EXPECT_TRUE(quarantine.List(now).empty());
  for (const int hours : {2, 4, 8, 16, 24, 24}) {
    EXPECT_TRUE(Misbehave(&quarantine, "a", now));
    EXPECT_EQ(quarantine.LeftOf("a", now), absl::Hours(hours));
    now += absl::Hours(hours);
  }
}

TEST(QuarantineTest, NowAndThenIsNoReason) {
  Quarantine quarantine;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(
        quarantine.Refused("a", "malformed: x", kStart + i * absl::Minutes(2)));
  }
}

TEST(QuarantineTest, RemembersManyHostsButNotMore) {
  Quarantine quarantine;
  ASSERT_TRUE(Misbehave(&quarantine, "bad", kStart));
  for (size_t i = 0; i < 3 * Quarantine::kMaxHosts; ++i) {
    quarantine.Refused(absl::StrCat("h", i), "malformed: x",
                       kStart + absl::Seconds(1));
  }
  EXPECT_GT(quarantine.LeftOf("bad", kStart + absl::Seconds(1)),
            absl::ZeroDuration());
}

}  // namespace
}  // namespace swaplock
