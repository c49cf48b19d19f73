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

TEST(LogRateTest, ThinningKeepsTheRate) {
  SeededRandom random(3);
  double few = 0;
  double many = 0;
  for (int i = 0; i < 2000; ++i) {
    EventsPer window = {11.2, 5.6e6, 2.8};  // 4 pieces
    Thin(&random, 1 / 5.6, &window);
    EXPECT_DOUBLE_EQ(window.exposure, 1e6);
    few += window.events / 2000;
    window = {30'000, 3e6};
    Thin(&random, 1.0 / 3, &window);
    EXPECT_LE(window.events, 30'000);
    many += window.events / 2000;
  }
  EXPECT_NEAR(few, 2, 0.1);
  EXPECT_NEAR(many, 10'000, 20);
  EventsPer all = {3, 2};
  Thin(&random, 1, &all);
  EXPECT_EQ(all.events, 3);
  EventsPer none = {0, 2};
  Thin(&random, 0.5, &none);
  EXPECT_EQ(none.events, 0);
  EXPECT_EQ(none.exposure, 1);
}

}  // namespace
}  // namespace swaplock
