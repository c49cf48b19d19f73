#include "server/verdict/log_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

TEST(LogRateTest, AHostWithoutEventsDoesNotChangeWhateverItsThroughput) {
  EXPECT_EQ(ChangeOfLogRate({0, 1e6}, {0, 5.6e6}), 0);
  EXPECT_EQ(ChangeOfLogRate({0, 1e6}, {0, 1}), 0);
}

TEST(LogRateTest, ManyEventsGiveTheRatioOfRates) {
  EXPECT_NEAR(ChangeOfLogRate({1e6, 1e6}, {6e6, 3e6}), std::log(2.0), 1e-5);
  // As in the definition: a = 0.5 * 2 E / (E0 + E1).
  EXPECT_DOUBLE_EQ(ChangeOfLogRate({2, 10}, {9, 30}),
                   std::log((9 + 0.5 * 2 * 30 / 40) / 30) -
                       std::log((2 + 0.5 * 2 * 10 / 40) / 10));
}

TEST(LogRateTest, HostsWithoutEventsTie) {
  EXPECT_EQ(LogRate({0, 1e6}, 2e6), LogRate({0, 9e6}, 2e6));
  EXPECT_NEAR(LogRate({3, 4}, 1e12), std::log(0.75), 1e-9);
}

TEST(LogRateTest, ThinningMakesExposuresEqualAndKeepsTheRate) {
  SeededRandom random(3);
  double few = 0;
  double many = 0;
  for (int i = 0; i < 2000; ++i) {
    EventsPer before = {7, 1e6};
    EventsPer after = {11.2, 5.6e6, 2.8};  // 4 pieces
    ThinToEqualExposure(&random, &before, &after);
    EXPECT_EQ(before.events, 7);
    EXPECT_EQ(after.exposure, 1e6);
    few += after.events / 2000;
    before = {30'000, 3e6};
    after = {5, 1e6};
    ThinToEqualExposure(&random, &before, &after);
    EXPECT_EQ(before.exposure, 1e6);
    EXPECT_LE(before.events, 30'000);
    many += before.events / 2000;
  }
  EXPECT_NEAR(few, 2, 0.1);
  EXPECT_NEAR(many, 10'000, 20);
  EventsPer none = {0, 2};
  EventsPer other = {3, 2};
  ThinToEqualExposure(&random, &none, &other);
  EXPECT_EQ(none.events, 0);
  EXPECT_EQ(other.events, 3);
}

}  // namespace
}  // namespace swaplock
