#include "server/verdict/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

TEST(DistributionsTest, MatchTables) {
  EXPECT_NEAR(NormalUpperTail(1.6448536), 0.05, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.975), 1.9599640, 1e-6);
  EXPECT_NEAR(NormalQuantile(0.05), -1.6448536, 1e-6);
  EXPECT_NEAR(StudentQuantile(0.975, 10), 2.2281389, 1e-6);
  EXPECT_NEAR(StudentQuantile(0.025, 10), -2.2281389, 1e-6);
  EXPECT_NEAR(StudentQuantile(0.95, 1), 6.3137515, 1e-6);
  EXPECT_NEAR(LogBeta(2, 3), std::log(1.0 / 12), 1e-12);
}

TEST(DistributionsTest, IncompleteBetaIsABinomialTail) {
  // I_p(k, n - k + 1) = P(at least k of n), here 3 of 5 fair coins.
  EXPECT_NEAR(IncompleteBeta(3, 3, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(IncompleteBeta(5, 1, 0.5), 1.0 / 32, 1e-12);
  EXPECT_NEAR(LogIncompleteBeta(2000, 1, 0.5), -2000 * std::log(2.0), 1e-6);
  EXPECT_EQ(IncompleteBeta(2, 3, 0), 0);
  EXPECT_EQ(IncompleteBeta(2, 3, 1), 1);
}

TEST(DistributionsTest, BinomialIntervalMatchesTables) {
  const Interval interval = BinomialInterval(5, 100, 0.95);
  EXPECT_NEAR(interval.lower, 0.01643, 1e-5);
  EXPECT_NEAR(interval.upper, 0.11284, 1e-5);
  // The rule of three: 0 of n is below 3 / n, one-sided at 95 %.
  EXPECT_NEAR(BinomialInterval(0, 1000, 0.90).upper, 0.003, 1e-5);
  EXPECT_EQ(BinomialInterval(0, 10, 0.95).lower, 0);
  EXPECT_EQ(BinomialInterval(10, 10, 0.95).upper, 1);
  EXPECT_EQ(BinomialInterval(0, 0, 0.95).upper, 1);
}

}  // namespace
}  // namespace swaplock
