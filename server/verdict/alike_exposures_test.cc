#include "server/verdict/alike_exposures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(AlikeExposuresTest, WhatIsAlikeKeepsEverything) {
  const KeptShares shares = MakeExposuresAlike({0.1, -0.2, 0}, {0, 0.1, -0.2});
  EXPECT_THAT(shares.treated, Each(DoubleNear(1, 1e-12)));
  EXPECT_THAT(shares.controls, Each(DoubleNear(1, 1e-12)));
}

TEST(AlikeExposuresTest, TheArmThatDoesMoreKeepsLess) {
  const double more = std::log(5.6);
  const KeptShares shares =
      MakeExposuresAlike({more, more + 0.1, more - 0.1}, {0.1, 0, -0.1});
  EXPECT_THAT(shares.treated, Each(DoubleNear(1 / 5.6, 1e-12)));
  EXPECT_THAT(shares.controls, Each(1));
}

TEST(AlikeExposuresTest, HostsAreTakenToTheOthersOfTheirRank) {
  // Half of the treated hosts do twice as much, and one control does so.
  const double twice = std::log(2.0);
  const KeptShares shares =
      MakeExposuresAlike({0, 0, twice, twice}, {0, 0, 0, twice});
  EXPECT_THAT(shares.treated,
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(1, 1e-12),
                          DoubleNear(std::sqrt(0.5), 1e-12),
                          DoubleNear(std::sqrt(0.5), 1e-12)));
  EXPECT_THAT(shares.controls, Each(DoubleNear(1, 1e-12)));
}

TEST(AlikeExposuresTest, OneArmAloneKeepsEverything) {
  EXPECT_THAT(MakeExposuresAlike({3, 4}, {}).treated, Each(1));
  EXPECT_THAT(MakeExposuresAlike({}, {3}).controls, ElementsAre(1));
  EXPECT_THAT(MakeExposuresAlike({3}, {5, 1}).treated, ElementsAre(1));
}

}  // namespace
}  // namespace swaplock
