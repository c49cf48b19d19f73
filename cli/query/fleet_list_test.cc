#include "cli/query/fleet_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/top/host_fleet.h"
#include "common/testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::Fleet OneHost(const Window& window) {
  HostFleet fleet;
  fleet.Take(window);
  return fleet.ToFleet();
}

TEST(FleetListTest, KernelsAreSummedOverTheirCells) {
  Window window = MakeWindow("a", 1);
  const FleetList list =
      ListOf(OneHost(window), FleetListKind::kKernels, "", "", {}, true);
  ASSERT_EQ(list.rows.size(), 1u);
  uint64_t acquisitions = 0;
  for (const Cell& cell : window.cells) {
    if (CountsHolds(cell.hold_tier)) acquisitions += cell.acquisitions;
  }
  EXPECT_EQ(list.rows[0][0], "6.18.15");
  EXPECT_EQ(list.rows[0][4], std::to_string(acquisitions));
}

TEST(FleetListTest, WhatIsNotMeasuredIsNotZero) {
  Window window = MakeWindow("a", 1);
  for (Cell& cell : window.cells) {
    cell.hold_tier = cell.wait_tier = Tier::kUnspecified;
  }
  EXPECT_THAT(FleetListTable(ListOf(OneHost(window), FleetListKind::kKernels,
                                    "", "", {}, false),
                             0),
              HasSubstr("-  "));
  EXPECT_THAT(FleetListCsv(ListOf(OneHost(window), FleetListKind::kKernels, "",
                                  "", {}, true)),
              HasSubstr(",,,,"));
}

TEST(FleetListTest, HostsThatAreSetAsideWithTheReason) {
  v1::Fleet fleet;
  v1::QuarantinedHost* aside = fleet.add_quarantined();
  aside->set_host_id("web-17");
  aside->set_reason("implausible: a hold of 9 days, in 1 s");
  aside->set_since_unix_ns(1'790'000'000'000'000'000);
  aside->set_until_unix_ns(1'790'003'600'000'000'000);
  aside->set_windows_refused(8);
  fleet.add_quarantined()->set_host_id("other");
  const FleetList list =
      ListOf(fleet, FleetListKind::kQuarantine, "", "web-17", {}, true);
  EXPECT_EQ(FleetListCsv(list),
            "host,since,until,windows_refused,reason\n"
            "web-17,2026-09-21T14:13:20Z,2026-09-21T15:13:20Z,8,"
            "\"implausible: a hold of 9 days, in 1 s\"\n");
  EXPECT_EQ(list.message.quarantined_size(), 1);
}

TEST(FleetListTest, FiltersAndSaysWhenThereIsNothing) {
  const v1::Fleet fleet = OneHost(MakeWindow("a", 1));
  const auto rows = [&fleet](const std::string& kernel,
                             const std::string& host) {
    return ListOf(fleet, FleetListKind::kHolds, kernel, host, {}, false)
        .rows.size();
  };
  EXPECT_EQ(rows("", ""), 1u);
  EXPECT_EQ(rows("6.18.15", "a"), 1u);
  EXPECT_EQ(rows("6.12", ""), 0u);
  EXPECT_EQ(rows("", "b"), 0u);
  EXPECT_EQ(
      FleetListTable(ListOf({}, FleetListKind::kHosts, "", "", {}, false), 0),
      "nothing yet\n");
}

TEST(FleetListTest, CsvQuotesAndHasNoControls) {
  Window window = MakeWindow("a,\"b\"\x1b", 1);
  EXPECT_THAT(FleetListCsv(ListOf(OneHost(window), FleetListKind::kHosts, "",
                                  "", {}, true)),
              HasSubstr("\n\"a,\"\"b\"\"?\",6.18.15,"));
  EXPECT_THAT(FleetListCsv(ListOf(OneHost(window), FleetListKind::kHolds, "",
                                  "", {}, true)),
              StartsWith("hold_ns,on_cpu_ns,runnable_ns,"));
}

}  // namespace
}  // namespace swaplock
