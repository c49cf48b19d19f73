#include "agent/bpf/hold_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "common/cell.h"
#include "common/histogram.h"

namespace swaplock {
namespace {

uint32_t IndexOf(uint64_t ns) {
  return sl_slot(ns) + Histogram::kUnderflowIndex;
}

TEST(HoldMathTest, SlotCountIsTheHistogramsOwn) {
  EXPECT_EQ(SL_SLOTS, Histogram::kBuckets);
}

// Both sides of every boundary: the program and the server put a value into
// the same bucket.
TEST(HoldMathTest, SlotsAreTheHistogramsBucketsAtEveryBoundary) {
  for (int i = Histogram::kUnderflowIndex; i < Histogram::kOverflowIndex; ++i) {
    const uint64_t bound = static_cast<uint64_t>(floorl(exp2l((i + 1) / 8.0L)));
    for (const uint64_t ns : {bound - 1, bound, bound + 1}) {
      EXPECT_EQ(IndexOf(ns), static_cast<uint32_t>(Histogram::IndexOf(ns)))
          << ns;
    }
  }
}

TEST(HoldMathTest, SlotsAreTheHistogramsBucketsAnywhere) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 500000; ++i) {
    const uint64_t ns = random() >> (random() % 64);
    ASSERT_EQ(IndexOf(ns), static_cast<uint32_t>(Histogram::IndexOf(ns))) << ns;
  }
}

TEST(HoldMathTest, Log2OfEveryPowerAndItsNeighbours) {
  for (uint32_t bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    EXPECT_EQ(sl_log2(power), bit);
    if (bit > 0) {
      EXPECT_EQ(sl_log2(power - 1), bit - 1);
      EXPECT_EQ(sl_log2(power | 1), bit);
    }
  }
}

TEST(HoldMathTest, DistributionCountsAsTheServersDoes) {
  std::mt19937_64 random(5);
  sl_dist bpf;
  memset(&bpf, 0, sizeof(bpf));
  Distribution ours;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t ns = random() >> (25 + random() % 30);
    sl_dist_add(&bpf, ns, 7);
    ours.Add(ns);
  }
  for (const uint64_t ns : {1'000'000u, 1'000'001u, 10'000'000u, 10'000'001u,
                            100'000'000u, 100'000'001u}) {
    sl_dist_add(&bpf, ns, 7);
    ours.Add(ns);
  }
  for (int i = 0; i < SL_SLOTS; ++i) {
    EXPECT_EQ(bpf.slot[i], ours.buckets.bucket(i + Histogram::kUnderflowIndex));
  }
  EXPECT_EQ(bpf.sum_ns, ours.sum_ns);
  EXPECT_EQ(bpf.over_1ms, ours.over_1ms);
  EXPECT_EQ(bpf.over_10ms, ours.over_10ms);
  EXPECT_EQ(bpf.over_100ms, ours.over_100ms);
  EXPECT_EQ(bpf.max_window[1], 7u);
  EXPECT_EQ(bpf.max_ns[1], ours.max_ns);
}

TEST(HoldMathTest, EachWindowHasItsOwnMaximum) {
  sl_dist d;
  memset(&d, 0, sizeof(d));
  sl_dist_add(&d, 5000, 1);
  sl_dist_add(&d, 3000, 1);
  sl_dist_add(&d, 100, 2);
  EXPECT_EQ(d.max_ns[1], 5000u);
  EXPECT_EQ(d.max_ns[0], 100u);
  sl_dist_add(&d, 700, 3);  // takes the place of window 1
  EXPECT_EQ(d.max_window[1], 3u);
  EXPECT_EQ(d.max_ns[1], 700u);
}

// Whatever the counters say, the parts are the hold.
TEST(HoldMathTest, PartsAlwaysSumToTheHold) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t hold = random() >> (random() % 64);
    const uint64_t run_delay = random() >> (random() % 64);
    const uint64_t blocked = random() >> (random() % 64);
    const sl_parts p = sl_split(hold, run_delay, static_cast<int>(i & 1),
                                static_cast<int>(i >> 1 & 1), blocked);
    ASSERT_EQ(p.on_cpu_ns + p.runnable_ns + p.blocked_ns + p.unknown_ns, hold);
  }
}

TEST(HoldMathTest, AHoldThatNeverSleptHasNoBlockedAndNoUnknownPart) {
  const sl_parts p = sl_split(137'600'000, 137'500'000, 0, 0, 999);
  EXPECT_EQ(p.runnable_ns, 137'500'000u);
  EXPECT_EQ(p.on_cpu_ns, 100'000u);
  EXPECT_EQ(p.blocked_ns, 0u);
  EXPECT_EQ(p.unknown_ns, 0u);
}

TEST(HoldMathTest, ASleepNobodySawIsUnknownNotZero) {
  const sl_parts p = sl_split(1000, 300, 1, 0, 0);
  EXPECT_EQ(p.runnable_ns, 300u);
  EXPECT_EQ(p.unknown_ns, 700u);
  EXPECT_EQ(p.on_cpu_ns, 0u);
}

TEST(HoldMathTest, ASleepThatWasSeenIsBlocked) {
  const sl_parts p = sl_split(1000, 300, 1, 1, 450);
  EXPECT_EQ(p.blocked_ns, 450u);
  EXPECT_EQ(p.on_cpu_ns, 250u);
}

}  // namespace
}  // namespace swaplock
