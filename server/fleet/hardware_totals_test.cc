#include "server/fleet/hardware_totals.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

constexpr char kIntel[] = "GenuineIntel 6 207";

HardwareKey KeyOf(const std::string& family) {
  return {family, "6.18.15", Subsystem::kZram, Operation::kWrite};
}

TEST(HardwareTotalsTest, SumsByKindOfCpuKernelAndOperation) {
  Window window = MakeWindow("a", 1);
  for (Cell& cell : window.cells) cell.wait_tier = Tier::kContention;
  HardwareCounts expected;
  for (const Cell& cell : window.cells) {
    if (cell.key.subsystem == Subsystem::kZram &&
        cell.key.operation == Operation::kWrite) {
      expected.acquisitions += cell.acquisitions;
      expected.runnable_ns += cell.runnable.sum_ns;
    }
  }
  ASSERT_GT(expected.acquisitions, 0u);
  HardwareTotals totals;
  totals.Take(window, kIntel);
  totals.Take(window, kIntel);
  totals.Take(window, "");
  EXPECT_EQ(totals.counts().at(KeyOf(kIntel)).acquisitions,
            2 * expected.acquisitions);
  EXPECT_EQ(totals.counts().at(KeyOf(kIntel)).runnable_ns,
            2 * expected.runnable_ns);
  EXPECT_EQ(totals.counts().at(KeyOf("unknown")).acquisitions,
            expected.acquisitions);
}

TEST(HardwareTotalsTest, WhatIsNotMeasuredIsNotCounted) {
  Window window = MakeWindow("a", 1);
  HardwareTotals totals;
  for (Cell& cell : window.cells) cell.wait_tier = Tier::kUnspecified;
  totals.Take(window, kIntel);
  for (Cell& cell : window.cells) {
    cell.wait_tier = Tier::kContention;
    cell.hold_tier = Tier::kOwnerProbe;
  }
  totals.Take(window, kIntel);
  EXPECT_TRUE(totals.counts().empty());
}

TEST(HardwareTotalsTest, KindsAreBounded) {
  Window window = MakeWindow("a", 1);
  for (Cell& cell : window.cells) cell.wait_tier = Tier::kContention;
  HardwareTotals totals;
  for (int i = 0; i < 100; ++i) totals.Take(window, absl::StrCat("cpu ", i));
  std::set<std::string> families;
  for (const auto& [key, counts] : totals.counts()) {
    families.insert(key.cpu_family);
  }
  EXPECT_EQ(families.size(), HardwareTotals::kFamilies + 1);
  EXPECT_EQ(families.count("other"), 1u);
}

}  // namespace
}  // namespace swaplock
