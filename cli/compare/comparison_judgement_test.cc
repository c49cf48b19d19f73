#include "cli/compare/comparison_judgement.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

const std::vector<double> kLow = {1, 2, 3, 4, 5};
const std::vector<double> kHigh = {10, 20, 30, 40, 50};

TEST(JudgementTest, FiveSeparatedRunsASideGiveTwoOf252) {
  const Judgement judgement = Judge(kLow, kHigh);
  ASSERT_TRUE(judgement.p.has_value());
  EXPECT_NEAR(*judgement.p, 2.0 / 252, 1e-12);
  EXPECT_NEAR(judgement.p_margin, 2.0 / 252, 1e-12);
  EXPECT_TRUE(judgement.exact);
  EXPECT_EQ(judgement.direction, 1);
  EXPECT_DOUBLE_EQ(*judgement.ratio, 10);
}

TEST(JudgementTest, SwappingTheSidesInvertsTheRatioAndKeepsP) {
  const std::vector<double> a = {3.1, 0.7, 12, 5.5, 2.2, 8};
  for (const std::vector<double>& b :
       {std::vector<double>{4, 9, 1, 30}, kHigh, {5.5, 5.5, 0, 12, 2}}) {
    const Judgement there = Judge(a, b);
    const Judgement back = Judge(b, a);
    EXPECT_NEAR(*there.ratio * *back.ratio, 1, 1e-12);
    EXPECT_EQ(there.direction, -back.direction);
    EXPECT_DOUBLE_EQ(*there.p, *back.p);
    EXPECT_DOUBLE_EQ(there.p_margin, back.p_margin);
    EXPECT_EQ(there.detectable.has_value(), back.detectable.has_value());
    if (!there.detectable.has_value()) continue;
    EXPECT_NEAR(*there.detectable, *back.detectable, 1e-9);
  }
}

TEST(JudgementTest, EqualRunsAreNoDifference) {
  Judgement judgement = Judge(kLow, kLow);
  EXPECT_DOUBLE_EQ(*judgement.p, 1);
  Adjust({&judgement});
  EXPECT_FALSE(judgement.Shown());
}

TEST(JudgementTest, OneValueEverywhereIsNoTest) {
  EXPECT_FALSE(Judge({0, 0, 0}, {0, 0, 0}).p.has_value());
  EXPECT_FALSE(Judge({}, kLow).p.has_value());
  EXPECT_FALSE(Judge(kLow, {}).p.has_value());
}

TEST(JudgementTest, FromZeroHasNoRatioButATest) {
  Judgement judgement = Judge({0, 0, 0, 0, 0}, {1, 3, 2, 5, 4});
  EXPECT_FALSE(judgement.ratio.has_value());
  EXPECT_NEAR(*judgement.p, 2.0 / 252, 1e-12);
  EXPECT_FALSE(judgement.detectable.has_value());
  Adjust({&judgement});
  EXPECT_TRUE(judgement.Shown());
}

TEST(JudgementTest, ACertainButTinyChangeIsNotShown) {
  Judgement judgement =
      Judge({100, 100.1, 100.2, 100.3, 100.4}, {101, 101.1, 101.2, 101.3, 101});
  EXPECT_LT(*judgement.p, 0.01);
  Adjust({&judgement});
  EXPECT_EQ(judgement.p_margin, 1);
  EXPECT_FALSE(judgement.Shown());
}

TEST(JudgementTest, AFallIsHeldAgainstTheMarginToo) {
  Judgement judgement = Judge(kHigh, kLow);
  Adjust({&judgement});
  EXPECT_EQ(judgement.direction, -1);
  EXPECT_TRUE(judgement.Shown());
}

TEST(JudgementTest, AdjustsByBenjaminiHochberg) {
  std::vector<Judgement> all(5);
  const double p[] = {0.04, 0.01, 0.9, 0.02};
  for (size_t i = 0; i < 4; ++i) all[i].p = p[i];  // the last was not tested
  Adjust({&all[0], &all[1], &all[2], &all[3], &all[4]});
  EXPECT_NEAR(all[1].p_adjusted, 0.04, 1e-12);  // 0.01 * 4 / 1
  EXPECT_NEAR(all[3].p_adjusted, 0.04, 1e-12);  // 0.02 * 4 / 2
  EXPECT_NEAR(all[0].p_adjusted, 0.04 * 4 / 3, 1e-12);
  EXPECT_NEAR(all[2].p_adjusted, 0.9, 1e-12);
  EXPECT_EQ(all[4].p_adjusted, 1);
}

TEST(JudgementTest, SixJudgedOutcomesLeaveRoomForOneAloneWithFiveRuns) {
  std::vector<Judgement> all(6);
  all[0] = Judge(kLow, kHigh);
  for (size_t i = 1; i < 6; ++i) all[i].p = 1;
  Adjust({&all[0], &all[1], &all[2], &all[3], &all[4], &all[5]});
  EXPECT_TRUE(all[0].Shown());
}

TEST(JudgementTest, SaysHowManyRunsAreNeeded) {
  EXPECT_EQ(FewestRuns(0.05), 4u);
  EXPECT_EQ(FewestRuns(0.05 / 6), 5u);
  EXPECT_EQ(FewestRuns(2.0 / 252), 5u);
  EXPECT_EQ(FewestRuns(0.05 / 9), 6u);
}

TEST(JudgementTest, WhatCouldBeSeenFollowsTheSpread) {
  const Judgement equal = Judge({5, 5, 5, 5, 5}, {5, 5, 5, 5, 6});
  const Judgement wide = Judge({1, 5, 25, 5, 5}, {5, 1, 5, 5, 25});
  ASSERT_TRUE(equal.detectable.has_value());
  ASSERT_TRUE(wide.detectable.has_value());
  EXPECT_GT(*equal.detectable, 1.10);
  EXPECT_LT(*equal.detectable, 1.5);
  EXPECT_GT(*wide.detectable, 5);
  EXPECT_FALSE(Judge({5}, {6}).detectable.has_value());
}

}  // namespace
}  // namespace swaplock
