#include "server/verdict/stratified_rank_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "server/verdict/rank_test.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

std::vector<double> Draw(SeededRandom* random, size_t n, double shift) {
  std::vector<double> out(n);
  for (double& x : out) {
    // Heavy tails: the tangent of a uniform angle.
    x = shift + std::tan(3.14159265 * (random->Uniform() - 0.5));
  }
  return out;
}

std::vector<double> Sequence(size_t n, double first) {
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = first + static_cast<double>(i);
  return out;
}

TEST(StratifiedRankTestTest, SmallestPOfSeparatedSamples) {
  const struct {
    size_t n;
    double two_sided;
  } kOracles[] = {{4, 0.02857}, {5, 0.0079365}, {6, 0.0021645}};
  for (const auto& oracle : kOracles) {
    const Strata strata = {{Sequence(oracle.n, 100), Sequence(oracle.n, 0)}};
    const StratifiedTest test =
        TestStratified(strata, 0, Direction::kHigher, 1);
    EXPECT_NEAR(2 * test.p_value, oracle.two_sided, 5e-6);
    EXPECT_TRUE(test.exact);
    EXPECT_NEAR(SmallestStratifiedP(strata), test.p_value, 1e-12);
  }
}

TEST(StratifiedRankTestTest, OneStratumIsWilcoxonMannWhitney) {
  SeededRandom random(5);
  for (int round = 0; round < 50; ++round) {
    const std::vector<double> treated = Draw(&random, 3 + round % 8, 0.7);
    const std::vector<double> controls = Draw(&random, 4 + round % 5, 0);
    const Strata strata = {{treated, controls}};
    const double higher =
        TestStratified(strata, 0, Direction::kHigher, 1).p_value;
    const double lower =
        TestStratified(strata, 0, Direction::kLower, 1).p_value;
    EXPECT_NEAR(std::min(1.0, 2 * std::min(higher, lower)),
                TestRanks(treated, controls, 1).p_value, 1e-9);
  }
}

// The definition: every exchange of labels inside strata.
double BruteForceP(const Strata& strata) {
  std::vector<std::vector<double>> outcomes;
  double observed = 0;
  for (const StratumValues& stratum : strata) {
    std::vector<double> pooled = stratum.treated;
    pooled.insert(pooled.end(), stratum.controls.begin(),
                  stratum.controls.end());
    std::vector<bool> labels(pooled.size());
    std::fill_n(labels.begin(), stratum.treated.size(), true);
    const auto statistic = [&] {
      double u = 0;
      for (size_t i = 0; i < pooled.size(); ++i) {
        for (size_t j = 0; j < pooled.size(); ++j) {
          if (!labels[i] || labels[j]) continue;
          u += pooled[i] > pooled[j] ? 1 : pooled[i] == pooled[j] ? 0.5 : 0;
        }
      }
      return u / static_cast<double>(pooled.size() + 1);
    };
    observed += statistic();
    outcomes.emplace_back();
    do {
      outcomes.back().push_back(statistic());
    } while (std::prev_permutation(labels.begin(), labels.end()));
  }
  double as_far = 0;
  for (const double a : outcomes[0]) {
    for (const double b : outcomes[1]) as_far += a + b >= observed - 1e-9;
  }
  return as_far / static_cast<double>(outcomes[0].size() * outcomes[1].size());
}

TEST(StratifiedRankTestTest, TwoStrataEqualBruteForceWithTies) {
  SeededRandom random(7);
  for (int round = 0; round < 100; ++round) {
    Strata strata(2);
    for (StratumValues& stratum : strata) {
      stratum.treated.resize(1 + random.Below(4));
      stratum.controls.resize(1 + random.Below(4));
      for (auto* side : {&stratum.treated, &stratum.controls}) {
        for (double& x : *side) x = static_cast<double>(random.Below(4));
      }
    }
    EXPECT_NEAR(TestStratified(strata, 0, Direction::kHigher, 1).p_value,
                BruteForceP(strata), 1e-9);
  }
}

TEST(StratifiedRankTestTest, SamplingAgreesWithCountingAndTheNormal) {
  SeededRandom random(11);
  for (const double shift : {0.0, 0.5}) {
    const Strata small = {{Draw(&random, 20, shift), Draw(&random, 20, 0)}};
    const StratifiedTest exact =
        TestStratified(small, 0, Direction::kHigher, 1);
    ASSERT_TRUE(exact.exact);
    EXPECT_NEAR(NormalP(small, 0, Direction::kHigher), exact.p_value, 0.01);
    const Strata large = {{Draw(&random, 90, shift), Draw(&random, 70, 0)},
                          {Draw(&random, 30, shift), Draw(&random, 80, 0)}};
    const StratifiedTest sampled =
        TestStratified(large, 0, Direction::kHigher, 1);
    ASSERT_FALSE(sampled.exact);
    EXPECT_NEAR(NormalP(large, 0, Direction::kHigher), sampled.p_value, 0.03);
    EXPECT_EQ(TestStratified(large, 0, Direction::kHigher, 1).p_value,
              sampled.p_value);
  }
}

TEST(StratifiedRankTestTest, PIsNeverZero) {
  const Strata strata = {{Sequence(300, 1000), Sequence(300, 0)}};
  EXPECT_DOUBLE_EQ(TestStratified(strata, 0, Direction::kHigher, 3).p_value,
                   1e-4);
  EXPECT_GT(NormalP({{Sequence(5000, 1e6), Sequence(5000, 0)}}, 0,
                    Direction::kHigher),
            0);
  EXPECT_DOUBLE_EQ(SmallestStratifiedP(strata), 1e-4);
}

TEST(StratifiedRankTestTest, WithoutBothSidesNothingIsSaid) {
  EXPECT_EQ(TestStratified({{{1, 2}, {}}}, 0, Direction::kHigher, 1).p_value,
            1);
  EXPECT_EQ(TestStratified({}, 0, Direction::kHigher, 1).p_value, 1);
  EXPECT_EQ(LargestPWithoutOneHost({}, 0, Direction::kHigher), 1);
}

// Hardware mixes that differ between the arms: no stratum shows anything.
TEST(StratifiedRankTestTest, StrataUndoSimpsonsParadox) {
  const Strata strata = {{Sequence(12, 0), Sequence(48, -18)},
                         {Sequence(48, 1000 - 18), Sequence(12, 1000)}};
  StratumValues pooled;
  for (const StratumValues& stratum : strata) {
    pooled.treated.insert(pooled.treated.end(), stratum.treated.begin(),
                          stratum.treated.end());
    pooled.controls.insert(pooled.controls.end(), stratum.controls.begin(),
                           stratum.controls.end());
  }
  EXPECT_LT(TestStratified({pooled}, 0, Direction::kHigher, 1).p_value, 0.001);
  EXPECT_GT(TestStratified(strata, 0, Direction::kHigher, 1).p_value, 0.3);
}

TEST(StratifiedShiftTest, OneStratumIsHodgesLehmann) {
  SeededRandom random(13);
  const std::vector<double> treated = Draw(&random, 9, 1);
  const std::vector<double> controls = Draw(&random, 8, 0);
  const Shift expected = HodgesLehmann(controls, treated, 0.05);
  const Shift shift = StratifiedShift({{treated, controls}}, 0.05);
  EXPECT_DOUBLE_EQ(shift.estimate, expected.estimate);
  EXPECT_NEAR(shift.lower, expected.lower, 1e-6);
  EXPECT_NEAR(shift.upper, expected.upper, 1e-6);
}

TEST(StratifiedShiftTest, ShiftsExactlyWithTheData) {
  Strata strata = {
      {{3, 5, 7, 11, 13, 17, 19, 23}, {0, 1, 4, 9, 16, 25, 36, 49}},
      {{2, 2, 9, 30}, {1, 2, 8, 31, 40}}};
  const Shift before = StratifiedShift(strata, 0.05);
  for (StratumValues& stratum : strata) {
    for (double& x : stratum.treated) x += 8;
  }
  const Shift after = StratifiedShift(strata, 0.05);
  EXPECT_EQ(after.estimate, before.estimate + 8);
  EXPECT_NEAR(after.lower, before.lower + 8, 1e-6);
  EXPECT_NEAR(after.upper, before.upper + 8, 1e-6);
}

// Test and interval come from one statistic.
TEST(StratifiedShiftTest, IntervalEndsWhereTheTestBeginsToReject) {
  SeededRandom random(17);
  for (int round = 0; round < 20; ++round) {
    const Strata strata = {{Draw(&random, 8, 1), Draw(&random, 8, 0)}};
    const Shift shift = StratifiedShift(strata, 0.05);
    const auto p = [&](double at) {
      return TestStratified(strata, at, Direction::kHigher, 1).p_value;
    };
    const double step = 1e-5 * std::max(1.0, std::abs(shift.lower));
    EXPECT_LE(p(shift.lower - step), 0.05);
    EXPECT_GT(p(shift.lower + step), 0.05);
  }
}

TEST(StratifiedShiftTest, TooFewHostsHaveNoInterval) {
  const Shift shift = StratifiedShift({{{3, 4}, {1, 2}}}, 0.05);
  EXPECT_EQ(shift.estimate, 2);
  EXPECT_EQ(shift.lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(shift.upper, std::numeric_limits<double>::infinity());
}

TEST(StratifiedRankTestTest, LeavingOutOneHostCanUndoASmallDifference) {
  const Strata strata = {{Sequence(8, 4), Sequence(8, 0)}};
  const double p = TestStratified(strata, 0, Direction::kHigher, 1).p_value;
  const double without = LargestPWithoutOneHost(strata, 0, Direction::kHigher);
  EXPECT_GT(without, p);
  // By hand: without the highest treated host.
  const double by_hand = TestStratified({{Sequence(7, 4), Sequence(8, 0)}}, 0,
                                        Direction::kHigher, 1)
                             .p_value;
  EXPECT_GE(without, by_hand);
}

TEST(StratifiedRankTestTest, SpreadIsThatOfHostsInsideStrata) {
  SeededRandom random(19);
  Strata strata;
  for (int i = 0; i < 10; ++i) {
    StratumValues stratum = {Draw(&random, 50, 100.0 * i),
                             Draw(&random, 50, -50.0 * i)};
    strata.push_back(stratum);
  }
  // The quartiles of that distribution are -1 and 1.
  EXPECT_NEAR(SpreadInsideStrata(strata), 1.4826, 0.25);
  EXPECT_EQ(SpreadInsideStrata({{{1}, {2}}}), 0);
}

}  // namespace
}  // namespace swaplock
