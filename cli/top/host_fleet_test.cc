#include "cli/top/host_fleet.h"

#include <gtest/gtest.h>

#include "common/testing.h"

namespace swaplock {
namespace {

TEST(HostFleetTest, AddsWindowsAndKeepsTheLongestHolds) {
  HostFleet fleet;
  EXPECT_EQ(fleet.ToFleet().cohorts_size(), 0);
  Window window = MakeWindow("a", 1);
  const uint64_t acquisitions = window.cells[0].acquisitions;
  fleet.Take(window);
  window = MakeWindow("a", 2);
  window.top_holds[0].hold_ns *= 2;
  Hold held;
  held.hold_ns = 5;
  window.holds_in_progress.push_back(held);
  fleet.Take(window);
  const v1::Fleet message = fleet.ToFleet();
  ASSERT_EQ(message.cohorts_size(), 1);
  EXPECT_EQ(message.cohorts(0).windows(), 2u);
  EXPECT_EQ(message.cohorts(0).cells_size(),
            static_cast<int>(window.cells.size()));
  EXPECT_EQ(message.cohorts(0).cells(0).acquisitions(), 2 * acquisitions);
  ASSERT_GE(message.top_holds_size(), 2);
  EXPECT_EQ(message.top_holds(0).hold().hold_ns(), window.top_holds[0].hold_ns);
  ASSERT_EQ(message.holds_in_progress_size(), 1);
  fleet.Take(MakeWindow("a", 3));
  EXPECT_EQ(fleet.ToFleet().holds_in_progress_size(), 0);
}

}  // namespace
}  // namespace swaplock
