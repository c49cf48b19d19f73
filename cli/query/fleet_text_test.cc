#include "cli/query/fleet_text.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "common/testing.h"

namespace swaplock {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(2'000'000'000);

v1::Fleet SampleFleet() {
  const Window window = MakeWindow("host-a", 1);
  v1::Fleet fleet;
  v1::Cohort* cohort = fleet.add_cohorts();
  cohort->set_kernel_release("6.18.15");
  cohort->set_preempt("lazy");
  cohort->set_hosts(1);
  cohort->set_windows(7);
  for (Cell cell : window.cells) {
    cell.key.device.clear();
    *cohort->add_cells() = ToProto(cell);
  }
  v1::HostState* host = fleet.add_hosts();
  host->set_host_id("host-a");
  host->set_kernel_release("6.18.15");
  host->set_windows(7);
  host->set_connected(true);
  host->set_last_seen_unix_ns(
      static_cast<uint64_t>(absl::ToUnixNanos(kNow - absl::Seconds(3))));
  *host->mutable_coverage() = ToProto(window.coverage);
  v1::TopHold* top = fleet.add_top_holds();
  top->set_host_id("host-a");
  top->set_kernel_release("6.18.15");
  *top->mutable_key() = ToProto(window.cells[0].key);
  *top->mutable_hold() = ToProto(window.top_holds[0]);
  return fleet;
}

TEST(FleetTextTest, ShowsCohortsHoldsHostsAndCoverage) {
  const std::string text = FleetText(SampleFleet(), kNow);
  for (const absl::string_view part :
       {"1 host, 1 connected\n", "kernel 6.18.15, preempt lazy: 1 host, 7 win",
        "exact/contention", "longest holds of the last day",
        "zram0 write stream", "writer[77]", "host-a 6.18.15", "3s ago",
        "connected", "measured on 1 host\n", "probes attached: "}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
  }
}

// A tier without holds cannot know a hold's time on the CPU.
TEST(FleetTextTest, TopHoldTakesItsTierFromTheCohort) {
  v1::Fleet fleet = SampleFleet();
  EXPECT_TRUE(absl::StrContains(FleetText(fleet, kNow), "  12.0ms  2.00ms"));
  fleet.mutable_cohorts(0)->mutable_cells(0)->set_hold_tier(
      v1::TIER_OWNER_PROBE);
  EXPECT_TRUE(
      absl::StrContains(FleetText(fleet, kNow), "  12.0ms       -    10.0ms"))
      << FleetText(fleet, kNow);
}

TEST(FleetTextTest, ShowsOperationsAndTheirLock) {
  v1::Fleet fleet = SampleFleet();
  EXPECT_FALSE(absl::StrContains(FleetText(fleet, kNow), "operations"));
  Cell load;
  load.key.subsystem = Subsystem::kZswap;
  load.key.operation = Operation::kLoad;
  load.lock_model = LockModel::kNone;
  load.latency_tier = Tier::kExact;
  load.latency.Add(5'000);
  *fleet.mutable_cohorts(0)->add_cells() = ToProto(load);
  const std::string text = FleetText(fleet, kNow);
  EXPECT_TRUE(absl::StrContains(text, "  operations, from entry to exit\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "zswap load  lock-free  exact")) << text;
}

TEST(FleetTextTest, ShowsHoldsInProgress) {
  v1::Fleet fleet = SampleFleet();
  EXPECT_FALSE(absl::StrContains(FleetText(fleet, kNow), "in progress"));
  v1::HoldInProgress* held = fleet.add_holds_in_progress();
  held->set_host_id("host-b");
  *held->mutable_key() = fleet.top_holds(0).key();
  *held->mutable_hold() = fleet.top_holds(0).hold();
  held->mutable_hold()->set_comm("stuck");
  held->set_hold_tier(v1::TIER_EXACT);
  held->set_as_of_unix_ns(
      static_cast<uint64_t>(absl::ToUnixNanos(kNow - absl::Seconds(4))));
  const std::string text = FleetText(fleet, kNow);
  EXPECT_TRUE(absl::StrContains(text, "holds in progress\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "stuck[77]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "host-b 4s ago")) << text;
  for (int i = 0; i < 12; ++i) {
    *fleet.add_holds_in_progress() = fleet.holds_in_progress(0);
  }
  EXPECT_TRUE(absl::StrContains(FleetText(fleet, kNow), "  and 3 more\n"));
}

TEST(FleetTextTest, ExplainsEveryHoldWhenAsked) {
  v1::Fleet fleet = SampleFleet();
  fleet.mutable_top_holds(0)->mutable_hold()->set_cgroup("/first");
  v1::TopHold* second = fleet.add_top_holds();
  *second = fleet.top_holds(0);
  second->set_host_id("host-b");
  second->mutable_hold()->set_cgroup("/second");
  std::string text = FleetText(fleet, kNow);
  EXPECT_TRUE(absl::StrContains(text, "cgroup: /first\n")) << text;
  EXPECT_FALSE(absl::StrContains(text, "/second")) << text;
  text = FleetText(fleet, kNow, {0, /*explain=*/true});
  EXPECT_TRUE(
      absl::StrContains(text,
                        "  12.0ms, writer[77] other nice 10 on host-b 6.18.15\n"
                        "    cgroup: /second\n"))
      << text;
}

TEST(FleetTextTest, EmptyFleetIsOneLine) {
  EXPECT_EQ(FleetText(v1::Fleet(), kNow), "0 hosts, 0 connected\n");
}

TEST(FleetTextTest, HostileNamesStayOnTheirLine) {
  v1::Fleet fleet = SampleFleet();
  fleet.mutable_cohorts(0)->set_kernel_release("6.18\n\x1b[2J");
  fleet.mutable_hosts(0)->set_host_id("a\nb");
  const std::string text = FleetText(fleet, kNow);
  EXPECT_TRUE(absl::StrContains(text, "kernel 6.18??[2J,")) << text;
  EXPECT_TRUE(absl::StrContains(text, "a?b")) << text;
  EXPECT_FALSE(absl::StrContains(text, "\x1b"));
}

}  // namespace
}  // namespace swaplock
