#include "common/cell.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

Cell Counted(uint64_t wait_ns, Tier tier = Tier::kExact) {
  Cell cell;
  cell.lock_model = LockModel::kMutex;
  cell.hold_tier = tier;
  cell.wait_tier = Tier::kContention;
  cell.acquisitions = 1;
  cell.contended = 1;
  cell.wait.Add(wait_ns);
  cell.hold.Add(2 * wait_ns);
  cell.on_cpu_ns = 2 * wait_ns;
  return cell;
}

TEST(DistributionTest, ThresholdsAreExactAndExclusive) {
  Distribution d;
  for (const uint64_t ns : {1'000'000u, 1'000'001u, 10'000'000u, 10'000'001u,
                            100'000'000u, 100'000'001u}) {
    d.Add(ns);
  }
  EXPECT_EQ(d.over_1ms, 5u);
  EXPECT_EQ(d.over_10ms, 3u);
  EXPECT_EQ(d.over_100ms, 1u);
  EXPECT_EQ(d.max_ns, 100'000'001u);
  EXPECT_EQ(d.Count(), 6u);
}

TEST(CellTest, MergeAddsAndAnEmptyCellIsNeutral) {
  Cell a = Counted(1000);
  a.Merge(Cell());
  EXPECT_EQ(a.acquisitions, 1u);
  EXPECT_EQ(a.hold_tier, Tier::kExact);
  Cell b;
  b.Merge(a);
  EXPECT_EQ(b.lock_model, LockModel::kMutex);
  b.Merge(Counted(5000));
  EXPECT_EQ(b.acquisitions, 2u);
  EXPECT_EQ(b.wait.sum_ns, 6000u);
  EXPECT_EQ(b.wait.max_ns, 5000u);
  EXPECT_EQ(b.on_cpu_ns, b.hold.sum_ns);
}

TEST(CellTest, MergeIsAssociative) {
  const Cell a = Counted(1000), b = Counted(20'000'000, Tier::kBracket),
             c = Counted(7, Tier::kOwnerProbe);
  Cell left = a;
  left.Merge(b);
  left.Merge(c);
  Cell tail = b;
  tail.Merge(c);
  Cell right = a;
  right.Merge(tail);
  EXPECT_EQ(left.wait.buckets, right.wait.buckets);
  EXPECT_EQ(left.wait.sum_ns, right.wait.sum_ns);
  EXPECT_EQ(left.hold_tier, right.hold_tier);
  EXPECT_EQ(left.lock_model, right.lock_model);
  EXPECT_EQ(left.hold_tier, Tier::kOwnerProbe);
}

TEST(CellTest, ModelsThatDifferMergeToNone) {
  Cell a = Counted(1000);
  Cell b = Counted(1000);
  b.lock_model = LockModel::kPreemptOff;
  a.Merge(b);
  EXPECT_EQ(a.lock_model, LockModel::kUnspecified);
}

TEST(CellTest, OperationsAreInCellsOfTheirOwn) {
  Cell cell;
  EXPECT_FALSE(IsOperation(cell));
  cell.latency_tier = Tier::kExact;
  EXPECT_TRUE(IsOperation(cell));
  cell.wait_tier = Tier::kContention;
  EXPECT_FALSE(IsOperation(cell));
}

TEST(CellTest, RunnableTimeWithoutPartsIsNotSplit) {
  Cell cell = Counted(1000);
  EXPECT_TRUE(MeasuresSplit(cell));
  cell.runnable.Add(500);
  EXPECT_FALSE(MeasuresSplit(cell));
  cell.preempted_ns = 400;
  EXPECT_TRUE(MeasuresSplit(cell));
  cell.hold_tier = Tier::kOwnerProbe;
  EXPECT_FALSE(MeasuresSplit(cell));
}

}  // namespace
}  // namespace swaplock
