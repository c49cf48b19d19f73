#include "server/verdict/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

std::vector<double> Noise(size_t days, uint64_t seed) {
  SeededRandom random(seed);
  std::vector<double> out(days);
  for (double& x : out) x = 0.1 * (random.Uniform() - 0.5);
  return out;
}

TEST(ChangePointsTest, FindsAStep) {
  std::vector<double> days = Noise(40, 1);
  for (size_t i = 22; i < days.size(); ++i) days[i] += std::log(1.5);
  const std::vector<ChangePoint> points = FindChangePoints(days, {}, 7);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].index, 22u);
  EXPECT_LE(points[0].first, 22u);
  EXPECT_GE(points[0].last, 22u);
  EXPECT_NEAR(points[0].ratio, 1.5, 0.05);
  EXPECT_GT(points[0].p_value, 0);
  EXPECT_LE(points[0].p_value, 0.001);
}

TEST(ChangePointsTest, FindsTwoStepsInOrder) {
  std::vector<double> days = Noise(60, 2);
  for (size_t i = 20; i < 40; ++i) days[i] += 1;
  const std::vector<ChangePoint> points = FindChangePoints(days, {}, 7);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].index, 20u);
  EXPECT_EQ(points[1].index, 40u);
  EXPECT_LT(points[1].ratio, 1);
}

TEST(ChangePointsTest, OneSpikeIsNoChange) {
  std::vector<double> days = Noise(40, 3);
  days[20] += 5;
  EXPECT_TRUE(FindChangePoints(days, {}, 7).empty());
}

TEST(ChangePointsTest, SmallStepsAndShortSeriesAreNotReported) {
  std::vector<double> days = Noise(60, 4);
  for (size_t i = 30; i < 60; ++i) days[i] += std::log(1.08);
  EXPECT_TRUE(FindChangePoints(days, {}, 7).empty());
  EXPECT_TRUE(FindChangePoints(Noise(13, 5), {}, 7).empty());
  EXPECT_TRUE(FindChangePoints({}, {}, 7).empty());
}

TEST(ChangePointsTest, NoiseAloneIsSeldomReported) {
  int found = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    found += !FindChangePoints(Noise(40, 100 + seed), {}, seed).empty();
  }
  EXPECT_LE(found, 2);
}

}  // namespace
}  // namespace swaplock
