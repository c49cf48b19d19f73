#include "common/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace swaplock {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(HistogramTest, EveryBoundaryFallsOnItsOwnSide) {
  for (int i = Histogram::kUnderflowIndex; i < Histogram::kOverflowIndex; ++i) {
    // The largest integer that is <= 2^((i+1)/8), in extended precision.
    const long double bound = exp2l((i + 1) / 8.0L);
    const uint64_t last = static_cast<uint64_t>(floorl(bound));
    EXPECT_EQ(Histogram::IndexOf(last), i) << "at " << last;
    EXPECT_EQ(Histogram::IndexOf(last + 1), i + 1) << "at " << last + 1;
  }
}

TEST(HistogramTest, OutermostValuesHaveABucket) {
  EXPECT_EQ(Histogram::IndexOf(0), Histogram::kUnderflowIndex);
  EXPECT_EQ(Histogram::IndexOf(1), Histogram::kUnderflowIndex);
  EXPECT_EQ(Histogram::IndexOf(256), Histogram::kUnderflowIndex);
  EXPECT_EQ(Histogram::IndexOf(257), 64);
  EXPECT_EQ(Histogram::IndexOf(uint64_t{1} << 37), 295);
  EXPECT_EQ(Histogram::IndexOf((uint64_t{1} << 37) + 1),
            Histogram::kOverflowIndex);
  EXPECT_EQ(Histogram::IndexOf(kMax), Histogram::kOverflowIndex);
}

TEST(HistogramTest, IndexNeverFallsAsTheValueGrows) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t a = random() >> (random() % 64);
    if (a == kMax) continue;
    ASSERT_LE(Histogram::IndexOf(a), Histogram::IndexOf(a + 1)) << a;
  }
}

TEST(HistogramTest, MergeIsAssociativeAndCommutative) {
  std::mt19937_64 random(11);
  Histogram a, b, c;
  for (int i = 0; i < 1000; ++i) {
    a.Add(random() >> 30);
    b.Add(random() >> 40);
    c.Add(random() >> 50);
  }
  Histogram left = a;
  left.Merge(b);
  left.Merge(c);
  Histogram right = c;
  right.Merge(b);
  right.Merge(a);
  EXPECT_EQ(left, right);
  EXPECT_EQ(left.Count(), 3000u);
}

TEST(HistogramTest, QuantileIsWithinABucketOfTheTruthAndNeverAboveTheMaximum) {
  std::mt19937_64 random(13);
  std::vector<uint64_t> values;
  Histogram histogram;
  uint64_t max = 0;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t v = 300 + (random() >> (27 + random() % 20));
    values.push_back(v);
    histogram.Add(v);
    max = std::max(max, v);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const size_t rank =
        static_cast<size_t>(std::ceil(q * static_cast<double>(values.size()))) -
        1;
    const double truth = static_cast<double>(values[rank]);
    const double got = histogram.QuantileNs(q, max);
    EXPECT_GE(got, truth / 1.0906) << q;
    EXPECT_LE(got, truth * 1.0906) << q;
    EXPECT_LE(got, static_cast<double>(max)) << q;
  }
}

TEST(HistogramTest, QuantileOfNothingIsZero) {
  EXPECT_EQ(Histogram().QuantileNs(0.5, 0), 0);
}

}  // namespace
}  // namespace swaplock
