#include "server/verdict/rank_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace swaplock {
namespace {

std::vector<double> Sequence(size_t n, double first) {
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = first + static_cast<double>(i);
  return out;
}

// The textbook definition: every way to label the pooled values.
double BruteForceP(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> pooled = a;
  pooled.insert(pooled.end(), b.begin(), b.end());
  const auto distance = [&](const std::vector<bool>& in_a) {
    double u = 0;
    for (size_t i = 0; i < pooled.size(); ++i) {
      for (size_t j = 0; j < pooled.size(); ++j) {
        if (!in_a[i] || in_a[j]) continue;
        u += pooled[i] > pooled[j] ? 1 : pooled[i] == pooled[j] ? 0.5 : 0;
      }
    }
    return std::abs(u - static_cast<double>(a.size() * b.size()) / 2);
  };
  std::vector<bool> labels(pooled.size());
  std::fill_n(labels.begin(), a.size(), true);
  const double observed = distance(labels);
  double as_far = 0;
  double all = 0;
  do {
    ++all;
    as_far += distance(labels) >= observed - 1e-9;
  } while (std::prev_permutation(labels.begin(), labels.end()));
  return as_far / all;
}

TEST(RankTestTest, SeparatedSamplesGiveTheSmallestP) {
  const struct {
    size_t n;
    double p;
  } kOracles[] = {{4, 0.02857}, {5, 0.0079365}, {6, 0.0021645}};
  for (const auto& oracle : kOracles) {
    const RankTest test =
        TestRanks(Sequence(oracle.n, 0), Sequence(oracle.n, 100), 1);
    EXPECT_NEAR(test.p_value, oracle.p, 5e-6);
    EXPECT_TRUE(test.exact);
    EXPECT_NEAR(SmallestRankTestP(oracle.n, oracle.n), test.p_value, 1e-12);
  }
}

TEST(RankTestTest, EqualsBruteForceWithTies) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> a(1 + random() % 6);
    std::vector<double> b(1 + random() % 6);
    // Few distinct values: ties within and across the sides.
    for (double& x : a) x = static_cast<double>(random() % 4);
    for (double& x : b) x = static_cast<double>(random() % 4) + round % 2;
    EXPECT_NEAR(TestRanks(a, b, 1).p_value, BruteForceP(a, b), 1e-12);
  }
}

TEST(RankTestTest, SidesAreExchangeable) {
  const std::vector<double> a = {1, 1, 3, 8, 9};
  const std::vector<double> b = {1, 2, 2, 4, 30, 31, 50, 60};
  EXPECT_DOUBLE_EQ(TestRanks(a, b, 1).p_value, TestRanks(b, a, 1).p_value);
}

TEST(RankTestTest, AllTiedGivesOne) {
  EXPECT_DOUBLE_EQ(
      TestRanks(std::vector<double>(9, 2), std::vector<double>(8, 2), 1)
          .p_value,
      1);
}

TEST(RankTestTest, SampledPIsNeverZeroAndRepeats) {
  const std::vector<double> a = Sequence(300, 0);
  const std::vector<double> b = Sequence(300, 1000);
  const RankTest test = TestRanks(a, b, 42);
  EXPECT_FALSE(test.exact);
  EXPECT_DOUBLE_EQ(test.p_value, 1e-4);
  const std::vector<double> near = Sequence(300, 20);
  EXPECT_EQ(TestRanks(a, near, 42).p_value, TestRanks(a, near, 42).p_value);
}

// At the size where enumeration ends, the sample agrees with it.
TEST(RankTestTest, SampleAgreesWithEnumeration) {
  std::mt19937_64 random(3);
  std::vector<double> a(45);
  std::vector<double> b(45);
  for (double& x : a) x = static_cast<double>(random() % 1000);
  for (double& x : b) x = static_cast<double>(random() % 1000) + 150;
  const RankTest exact = TestRanks(a, b, 1);
  ASSERT_TRUE(exact.exact);
  a.insert(a.end(), 3, 575);
  b.insert(b.end(), 3, 575);
  const RankTest sampled = TestRanks(a, b, 1);
  ASSERT_FALSE(sampled.exact);
  EXPECT_NEAR(sampled.p_value, exact.p_value, 0.03);
}

TEST(RankTestTest, EmptySideSaysNothing) {
  EXPECT_EQ(TestRanks({}, {1, 2}, 1).p_value, 1);
  EXPECT_EQ(SmallestRankTestP(0, 5), 1);
}

TEST(HodgesLehmannTest, ShiftsExactlyWithTheData) {
  const std::vector<double> a = {0, 1, 4, 9, 16, 25, 36, 49};
  std::vector<double> b = {3, 5, 7, 11, 13, 17, 19, 23};
  const Shift before = HodgesLehmann(a, b, 0.05);
  for (double& x : b) x += 8;
  const Shift after = HodgesLehmann(a, b, 0.05);
  EXPECT_EQ(after.estimate, before.estimate + 8);
  EXPECT_EQ(after.lower, before.lower + 8);
  EXPECT_EQ(after.upper, before.upper + 8);
  EXPECT_LE(after.lower, after.estimate);
  EXPECT_GE(after.upper, after.estimate);
}

// For 5 against 5 the one-sided 5 % critical value of U is 4 (tables of
// Mann-Whitney), so the interval starts at the 5th smallest difference.
TEST(HodgesLehmannTest, IntervalStartsAtTheTablesCriticalValue) {
  const std::vector<double> a = {0, 10, 20, 30, 40};
  const std::vector<double> b = {1, 12, 23, 34, 45};
  std::vector<double> differences;
  for (const double x : a) {
    for (const double y : b) differences.push_back(y - x);
  }
  std::sort(differences.begin(), differences.end());
  const Shift shift = HodgesLehmann(a, b, 0.05);
  EXPECT_EQ(shift.lower, differences[4]);
  EXPECT_EQ(shift.upper, differences[20]);
  EXPECT_EQ(shift.estimate, differences[12]);
}

TEST(HodgesLehmannTest, TooFewValuesHaveNoInterval) {
  const Shift shift = HodgesLehmann({1, 2}, {3, 4}, 0.05);
  EXPECT_EQ(shift.estimate, 2);
  EXPECT_EQ(shift.lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(shift.upper, std::numeric_limits<double>::infinity());
}

TEST(HodgesLehmannTest, LargeSamplesUseTheNormalApproximation) {
  const Shift shift = HodgesLehmann(Sequence(200, 0), Sequence(200, 10), 0.05);
  EXPECT_EQ(shift.estimate, 10);
  // Standard error of the shift of two uniforms of width 200: about 5.8.
  EXPECT_NEAR(shift.lower, 10 - 1.645 * 5.8, 1.5);
  EXPECT_NEAR(shift.upper, 10 + 1.645 * 5.8, 1.5);
}

}  // namespace
}  // namespace swaplock
