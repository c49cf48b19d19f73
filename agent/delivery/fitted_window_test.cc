#include "agent/delivery/fitted_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing.h"

namespace swaplock {
namespace {

TEST(FittedWindowTest, AWindowThatFitsStaysAsItIs) {
  Window window = MakeWindow("host-a", 1);
  const std::string before = Serialize(window);
  EXPECT_FALSE(FitWindow(before.size(), &window));
  EXPECT_EQ(Serialize(window), before);
}

TEST(FittedWindowTest, TheShortestHoldsAreLeftOutAndNoCount) {
  Window window = MakeWindow("host-a", 1);
  const std::vector<Cell> cells = window.cells;
  window.top_holds[0].release_stack.assign(30, std::string(100, 'x'));
  window.top_holds.resize(64, window.top_holds[0]);
  window.holds_in_progress = window.top_holds;
  window.top_holds[0].pid = 1;  // the longest
  EXPECT_TRUE(FitWindow(64 << 10, &window));
  EXPECT_LE(Serialize(window).size(), size_t{64} << 10);
  EXPECT_TRUE(window.holds_in_progress.empty());
  ASSERT_FALSE(window.top_holds.empty());
  EXPECT_EQ(window.top_holds[0].pid, 1u);
  ASSERT_EQ(window.cells.size(), cells.size());
  EXPECT_EQ(window.cells[0].acquisitions, cells[0].acquisitions);
}

TEST(FittedWindowTest, DevicesAreCountedTogetherWhereTheirCellsAreTooMany) {
  Window window = MakeWindow("host-a", 1);
  const Cell cell = window.cells[0];
  const size_t kinds = window.cells.size();
  uint64_t acquisitions = 0;
  while (Serialize(window).size() <= kMaxWindowBytes) {
    for (int i = 0; i < 1'000; ++i) {
      window.cells.push_back(cell);
      window.cells.back().key.device =
          "zram" + std::to_string(window.cells.size());
    }
  }
  for (const Cell& one : window.cells) acquisitions += one.acquisitions;
  EXPECT_TRUE(FitWindow(kMaxWindowBytes, &window));
  EXPECT_LE(Serialize(window).size(), kMaxWindowBytes);
  EXPECT_LE(window.cells.size(), kinds);
  uint64_t left = 0;
  for (const Cell& one : window.cells) left += one.acquisitions;
  EXPECT_EQ(left, acquisitions);
  for (const Hold& hold : window.top_holds) {
    EXPECT_LT(hold.cell, window.cells.size());
  }
}

}  // namespace
}  // namespace swaplock
