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

}  // namespace
}  // namespace swaplock
