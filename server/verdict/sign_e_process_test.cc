#include "server/verdict/sign_e_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "server/verdict/distributions.h"

namespace swaplock {
namespace {

TEST(SignEProcessTest, OnlyPositiveSignsHaveAClosedForm) {
  for (const uint64_t n : {0, 1, 2, 5, 10, 50}) {
    const double closed = std::log(std::exp2(static_cast<double>(n + 1)) - 1) -
                          std::log(static_cast<double>(n + 1));
    EXPECT_NEAR(LogSignE(n, 0), closed, 1e-9) << n;
  }
  EXPECT_NEAR(std::exp(LogSignE(1, 0)), 1.5, 1e-9);
  EXPECT_NEAR(std::exp(LogSignE(5, 0)), 10.5, 1e-9);
  EXPECT_NEAR(std::exp(LogSignE(10, 0)), 186.09, 0.005);
}

TEST(SignEProcessTest, TwoSidedFormMatchesItsDefinition) {
  EXPECT_NEAR(LogTwoSidedSignE(0, 0), 0, 1e-12);
  EXPECT_NEAR(LogTwoSidedSignE(3, 4),
              7 * std::log(2.0) + LogBeta(3.5, 4.5) - LogBeta(0.5, 0.5), 1e-12);
  EXPECT_DOUBLE_EQ(LogTwoSidedSignE(9, 2), LogTwoSidedSignE(2, 9));
}

// What makes it an e-process: from any state, a fair coin's next step leaves
// its mean where it is.
TEST(SignEProcessTest, IsAMartingaleUnderAFairCoin) {
  for (uint64_t up = 0; up < 30; ++up) {
    for (uint64_t down = 0; down < 30; ++down) {
      const double mean = (std::exp(LogSignE(up + 1, down)) +
                           std::exp(LogSignE(up, down + 1))) /
                          2;
      const double now = std::exp(LogSignE(up, down));
      EXPECT_NEAR(mean / now, 1, 1e-9) << up << " " << down;
    }
  }
}

TEST(SignEProcessTest, PIsTheInverseOfTheLargestSoFar) {
  SignEProcess process;
  EXPECT_EQ(process.p_value(), 1);
  for (int i = 0; i < 10; ++i) process.Add(0.1);
  EXPECT_NEAR(process.p_value(), 1 / 186.09, 1e-6);
  process.Add(0);
  process.Add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(process.up() + process.down(), 10u);
  for (int i = 0; i < 50; ++i) process.Add(-1);
  EXPECT_NEAR(process.p_value(), 1 / 186.09, 1e-6);
  EXPECT_LT(process.log_e(), 0);
}

TEST(SignEProcessTest, ManyPairsNeitherOverflowNorReachZero) {
  SignEProcess process;
  for (int i = 0; i < 5000; ++i) process.Add(1);
  EXPECT_TRUE(std::isfinite(process.log_e()));
  EXPECT_GT(process.p_value(), 0);
  EXPECT_TRUE(std::isfinite(LogSignE(0, 100'000)));
  EXPECT_TRUE(std::isfinite(LogSignE(50'000, 50'000)));
}

}  // namespace
}  // namespace swaplock
