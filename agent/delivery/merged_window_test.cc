#include "agent/delivery/merged_window.h"

#include <gtest/gtest.h>

#include "common/testing.h"

namespace swaplock {
namespace {

TEST(MergedWindowTest, AddsCountsAndSpansBoth) {
  const Window first = MakeWindow("host-a", 1);
  const Window second = MakeWindow("host-a", 2);
  ASSERT_TRUE(CanMerge(first, second));
  const Window merged = Merged(first, second);
  EXPECT_EQ(merged.key, second.key);
  EXPECT_EQ(merged.start_boottime_ns, first.start_boottime_ns);
  EXPECT_EQ(merged.end_boottime_ns, second.end_boottime_ns);
  EXPECT_EQ(merged.merged, 2u);
  ASSERT_EQ(merged.cells.size(), 2u);
  EXPECT_EQ(merged.cells[0].acquisitions, 6u);
  EXPECT_EQ(merged.cells[0].hold.sum_ns, 2 * first.cells[0].hold.sum_ns);
  EXPECT_EQ(merged.losses.at(LossReason::kRecursion), 2u);
  EXPECT_TRUE(ParseWindow(Serialize(merged)).ok());
}

TEST(MergedWindowTest, HoldsKeepTheirCellAndTheirPlaceInTime) {
  Window first = MakeWindow("host-a", 1);
  const Window second = MakeWindow("host-a", 2);
  std::swap(first.cells[0], first.cells[1]);
  first.top_holds[0].cell = 1;
  first.top_holds[0].hold_ns += 1;
  first.top_holds[0].on_cpu_ns += 1;
  const Window merged = Merged(first, second);
  ASSERT_EQ(merged.top_holds.size(), 1u);
  const Hold& hold = merged.top_holds[0];
  EXPECT_EQ(merged.cells[hold.cell].key, first.cells[1].key);
  EXPECT_EQ(hold.acquired_offset_ns, first.top_holds[0].acquired_offset_ns);

  Window longer = second;
  longer.top_holds[0].hold_ns += 2;
  longer.top_holds[0].on_cpu_ns += 2;
  EXPECT_EQ(Merged(first, longer).top_holds[0].acquired_offset_ns,
            second.top_holds[0].acquired_offset_ns +
                static_cast<int64_t>(kTestWindowNs));
}

TEST(MergedWindowTest, HoldsInProgressAreThoseAtTheEnd) {
  Window first = MakeWindow("host-a", 1);
  first.holds_in_progress = first.top_holds;
  Window second = MakeWindow("host-a", 2);
  EXPECT_TRUE(Merged(first, second).holds_in_progress.empty());
  second.holds_in_progress = second.top_holds;
  const Window merged = Merged(first, second);
  ASSERT_EQ(merged.holds_in_progress.size(), 1u);
  EXPECT_EQ(merged.holds_in_progress[0].acquired_offset_ns,
            second.top_holds[0].acquired_offset_ns +
                static_cast<int64_t>(kTestWindowNs));
}

TEST(MergedWindowTest, ContextIsWhatBothSaid) {
  Window first = MakeWindow("host-a", 1);
  first.context = {true, {{"a", 1}, {"b", 2}}, {{"g", 3}}, {{"f", "x"}}};
  Window second = MakeWindow("host-a", 2);
  second.context = {false, {{"a", 10}}, {{"g", 4}}, {}};
  EXPECT_EQ(Merged(first, second).context,
            (Context{true, {{"a", 11}, {"b", 2}}, {{"g", 4}}, {{"f", "x"}}}));
}

TEST(MergedWindowTest, DeliveryIsWhatHappenedInBoth) {
  Window first = MakeWindow("host-a", 1);
  Window second = MakeWindow("host-a", 2);
  first.overhead.delivery = Delivery();
  first.overhead.delivery->waiting = 7;
  first.overhead.delivery->streams = 2;
  EXPECT_FALSE(Merged(first, second).overhead.delivery.has_value());
  second.overhead.delivery = Delivery();
  second.overhead.delivery->waiting = 5;
  second.overhead.delivery->streams = 1;
  const Window merged = *ParseWindow(Serialize(Merged(first, second)));
  ASSERT_TRUE(merged.overhead.delivery.has_value());
  EXPECT_EQ(merged.overhead.delivery->waiting, 5u);
  EXPECT_EQ(merged.overhead.delivery->streams, 3u);
}

TEST(MergedWindowTest, MergesOfMergesCountAllWindows) {
  const Window pair = Merged(MakeWindow("host-a", 1), MakeWindow("host-a", 2));
  const Window other = Merged(MakeWindow("host-a", 3), MakeWindow("host-a", 4));
  ASSERT_TRUE(CanMerge(pair, other));
  EXPECT_EQ(Merged(pair, other).merged, 4u);
}

TEST(MergedWindowTest, OnlyNeighboursThatMeasuredTheSame) {
  const Window first = MakeWindow("host-a", 1);
  EXPECT_FALSE(CanMerge(first, MakeWindow("host-a", 3)));
  EXPECT_FALSE(CanMerge(first, MakeWindow("host-b", 2)));
  EXPECT_FALSE(CanMerge(first, MakeWindow("host-a", 2, "6.12.0")));
  EXPECT_FALSE(CanMerge(MakeWindow("host-a", 2), first));
  Window second = MakeWindow("host-a", 2);
  second.key.epoch += 1;
  EXPECT_FALSE(CanMerge(first, second));
  second = MakeWindow("host-a", 2);
  second.coverage.fingerprint += 1;
  EXPECT_FALSE(CanMerge(first, second));
}

}  // namespace
}  // namespace swaplock
