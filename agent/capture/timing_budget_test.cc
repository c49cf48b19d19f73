#include "agent/capture/timing_budget.h"

#include <gtest/gtest.h>

#include <random>

namespace swaplock {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(TimingBudgetTest, TimesEverythingWhileItIsCheap) {
  TimingBudget budget(0.01, 100);
  budget.Observe(50'000, kSecond);  // 0.5 %
  EXPECT_EQ(budget.shift(), 0u);
}

TEST(TimingBudgetTest, StaysWithinTheBudgetAtOnce) {
  TimingBudget budget(0.01, 100);
  budget.Observe(400'000, kSecond);  // 4 %
  EXPECT_EQ(budget.shift(), 2u);
  budget.Observe(400'000, kSecond);  // now 1 %: neither up nor down
  EXPECT_EQ(budget.shift(), 2u);
}

TEST(TimingBudgetTest, ComesBackStepByStep) {
  TimingBudget budget(0.01, 100);
  budget.Observe(1'600'000, kSecond);  // 16 %
  EXPECT_EQ(budget.shift(), 4u);
  for (uint32_t shift = 3;; --shift) {
    budget.Observe(0, kSecond);
    EXPECT_EQ(budget.shift(), shift);
    if (shift == 0) break;
  }
}

TEST(TimingBudgetTest, WithoutALimitOrACostEverythingIsTimed) {
  TimingBudget unlimited(0, 100);
  unlimited.Observe(UINT64_MAX / 1000, kSecond);
  EXPECT_EQ(unlimited.shift(), 0u);
  TimingBudget unknown(0.01, 0);
  unknown.Observe(UINT64_MAX / 1000, kSecond);
  EXPECT_EQ(unknown.shift(), 0u);
}

// Whatever the load does: never above the budget unless the shift is at its
// end, and a steady load settles.
TEST(TimingBudgetTest, HoldsForAnyLoad) {
  std::mt19937_64 random(5);
  TimingBudget budget(0.01, 120);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t holds = random() >> (random() % 64);
    const uint64_t elapsed = 1 + (random() >> (random() % 64));
    budget.Observe(holds, elapsed);
    const double cost = static_cast<double>(holds) * 120 /
                        static_cast<double>(elapsed) /
                        static_cast<double>(uint64_t{1} << budget.shift());
    EXPECT_TRUE(cost <= 0.01 || budget.shift() == TimingBudget::kMaxShift);
    const uint32_t after = budget.shift();
    budget.Observe(holds, elapsed);
    EXPECT_LE(budget.shift(), after);
  }
}

}  // namespace
}  // namespace swaplock
