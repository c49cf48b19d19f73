#include "server/judge/look_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace swaplock {
namespace {

constexpr int64_t kClose = 8;

LookPlan At(const std::vector<int64_t>& days, int64_t today) {
  return PlanLooks(days, kClose, /*min_hosts=*/4, today, std::nullopt);
}

TEST(LookPlanTest, TheLookIsMadeWhenAllHostsWereWatched) {
  const std::vector<int64_t> days = {100, 101, 102, 103};
  LookPlan plan = At(days, 110);
  EXPECT_FALSE(plan.ended);
  EXPECT_EQ(plan.look, 1u);
  EXPECT_EQ(plan.as_of, 110);
  EXPECT_FALSE(plan.look_day.has_value());
  plan = At(days, 111);
  EXPECT_TRUE(plan.ended);
  EXPECT_EQ(plan.look_day, 111);
  EXPECT_EQ(plan.as_of, 111);
  EXPECT_DOUBLE_EQ(plan.share, 0.5);
  // It is confirmed by the next day, and then it stands.
  for (const int64_t today : {112, 113, 150}) {
    plan = At(days, today);
    EXPECT_TRUE(plan.ended);
    EXPECT_EQ(plan.look_day, 111);
    EXPECT_EQ(plan.as_of, 112);
  }
}

TEST(LookPlanTest, FewHostsMakeNoLook) {
  EXPECT_FALSE(At({100, 100, 100}, 200).ended);
  EXPECT_FALSE(At({}, 200).ended);
}

TEST(LookPlanTest, StragglersAreNotWaitedFor) {
  std::vector<int64_t> days(40, 100);
  days.push_back(107);
  days.push_back(107);
  EXPECT_EQ(At(days, 108).look_day, 108);
  days.push_back(107);
  EXPECT_FALSE(At(days, 108).ended);
  EXPECT_TRUE(At(days, 115).ended);
}

TEST(LookPlanTest, ARolloutThatGoesOnIsLookedAtAgain) {
  std::vector<int64_t> days(10, 100);
  // A few more change nothing.
  days.insert(days.end(), 4, 120);
  LookPlan plan = At(days, 125);
  EXPECT_TRUE(plan.ended);
  EXPECT_EQ(plan.as_of, 109);
  // Half as many again do.
  days.push_back(121);
  plan = At(days, 125);
  EXPECT_FALSE(plan.ended);
  EXPECT_EQ(plan.look, 2u);
  EXPECT_EQ(plan.look_day, 108);
  EXPECT_EQ(plan.as_of, 125);
  plan = At(days, 130);
  EXPECT_TRUE(plan.ended);
  EXPECT_EQ(plan.look, 2u);
  EXPECT_EQ(plan.look_day, 129);
  EXPECT_EQ(plan.as_of, 130);
  EXPECT_DOUBLE_EQ(plan.share, 0.25);
}

TEST(LookPlanTest, APlannedEndIsTheOnlyLook) {
  const std::vector<int64_t> days(10, 100);
  LookPlan plan = PlanLooks(days, kClose, 4, 119, 120);
  EXPECT_FALSE(plan.ended);
  EXPECT_EQ(plan.as_of, 119);
  plan = PlanLooks(days, kClose, 4, 140, 120);
  EXPECT_TRUE(plan.ended);
  EXPECT_EQ(plan.look, 1u);
  EXPECT_EQ(plan.as_of, 121);
  EXPECT_DOUBLE_EQ(plan.share, 1);
}

}  // namespace
}  // namespace swaplock
