#include "server/verdict/false_discovery.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

TEST(FalseDiscoveryTest, BenjaminiHochbergMatchesAWorkedExample) {
  const std::vector<double> adjusted =
      BenjaminiHochberg({0.01, 0.04, 0.03, 0.005, 0.9});
  const std::vector<double> expected = {0.025, 0.05, 0.05, 0.025, 0.9};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(adjusted[i], expected[i], 1e-12) << i;
  }
  EXPECT_TRUE(BenjaminiHochberg({}).empty());
}

TEST(FalseDiscoveryTest, HypothesesWithoutATestCount) {
  EXPECT_NEAR(BenjaminiHochberg({0.001}, 24)[0], 0.024, 1e-12);
  EXPECT_EQ(BenjaminiHochberg({0.5}, 24)[0], 1);
}

TEST(FalseDiscoveryTest, BenjaminiYekutieliIsStricterByAHarmonicSum) {
  const std::vector<double> p = {0.001, 0.2};
  EXPECT_NEAR(BenjaminiYekutieli(p)[0], BenjaminiHochberg(p)[0] * 1.5, 1e-12);
}

TEST(FalseDiscoveryTest, EBenjaminiHochbergTakesTheLargestSet) {
  // Of 4 at 0.05: one needs e of 80, two of 40 each, three of 26.7.
  const auto rejected = [](std::vector<double> e) {
    for (double& value : e) value = std::log(value);
    return EBenjaminiHochberg(e, 0.05);
  };
  EXPECT_EQ(rejected({1, 79, 1, 1}),
            (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(rejected({1, 81, 1, 1}),
            (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(rejected({41, 79, 1, 1}),
            (std::vector<bool>{true, true, false, false}));
  // Neither of the first two would stand alone.
  EXPECT_EQ(rejected({30, 30, 30, 1}),
            (std::vector<bool>{true, true, true, false}));
  EXPECT_TRUE(rejected({}).empty());
}

}  // namespace
}  // namespace swaplock
