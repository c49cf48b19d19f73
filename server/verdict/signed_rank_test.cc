#include "server/verdict/signed_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace swaplock {
namespace {

TEST(SignedRankTest, MatchesEnumerationForTenValues) {
  // Positive ranks 10, 9, 8, 7, 6, 5, 4, 3 and negative 1, 2: W = 52 of 55.
  // Exactly, P(W >= 52) = 5 / 1024.
  const std::vector<double> values = {-1, -2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_NEAR(SignedRankP(values, 0, Direction::kHigher), 5.0 / 1024, 0.003);
  EXPECT_GT(SignedRankP(values, 0, Direction::kLower), 0.99);
  EXPECT_EQ(SignedRankP({0, 0}, 0, Direction::kHigher), 1);
}

TEST(SignedRankTest, PseudoMedianIsTheMedianOfMeans) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  EXPECT_EQ(PseudoMedian(values, 0.05).estimate, 3);
  const std::vector<double> skewed = {0, 1, 5, 20, 21, 40};
  std::vector<double> means;
  for (size_t i = 0; i < skewed.size(); ++i) {
    for (size_t j = i; j < skewed.size(); ++j) {
      means.push_back((skewed[i] + skewed[j]) / 2);
    }
  }
  std::sort(means.begin(), means.end());
  EXPECT_EQ(PseudoMedian(skewed, 0.05).estimate, means[10]);
}

TEST(SignedRankTest, IntervalIsSymmetricForSymmetricValues) {
  std::vector<double> values;
  for (int i = -20; i <= 20; ++i) values.push_back(i);
  const Shift shift = PseudoMedian(values, 0.05);
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_EQ(shift.lower, -shift.upper);
  EXPECT_LT(shift.lower, -1);
  EXPECT_TRUE(std::isinf(PseudoMedian({1, 2}, 0.05).lower));
}

}  // namespace
}  // namespace swaplock
