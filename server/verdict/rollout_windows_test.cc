#include "server/verdict/rollout_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;

constexpr char kBase[] = "6.12.57";
constexpr char kNew[] = "6.18.15";
constexpr int64_t kBoot = 20'003;  // a day in the middle of a week
const OperationKey kZramRead = {Subsystem::kZram, Operation::kRead};

class History {
 public:
  // Runs base from day 19,900, then `kernel` from `boot` until `last`.
  void AddHost(const std::string& id, const std::string& kernel, int64_t boot,
               int64_t last = kBoot + 30) {
    history_.boots.push_back({id, kBase, "aa", 19'900, {{"cpus", "64"}}, {}});
    history_.boots.push_back({id, kernel, "bb", boot, {{"cpus", "64"}}, {}});
    history_.boots[history_.boots.size() - 2].facts = {{"preempt", "none"},
                                                       {"zstd", "1"}};
    history_.boots.back().facts = {
        {"preempt", kernel == kNew ? "lazy" : "none"}, {"zstd", "1"}};
    for (int64_t day = boot - 20; day <= last; ++day) {
      AddDay(id, day < boot ? kBase : kernel, day);
    }
  }

  void AddDay(const std::string& id, const std::string& kernel, int64_t day) {
    history_.days.push_back({id, kernel, day, 24, 1});
    HostDayCell cell;
    cell.host_id = id;
    cell.kernel_release = kernel;
    cell.day = day;
    cell.subsystem = Subsystem::kZram;
    cell.operation = Operation::kRead;
    cell.role = Role::kStream;
    cell.lock_model = LockModel::kMutex;
    cell.hold_tier = Tier::kExact;
    cell.wait_tier = Tier::kExact;
    cell.acquisitions = 1000;
    cell.waits_over_10ms = 2;
    cell.longest_hold_ns = static_cast<uint64_t>(day);
    history_.cells.push_back(cell);
  }

  HostHistory& get() { return history_; }

 private:
  HostHistory history_;
};

const HostChange* Find(const Rollout& rollout, const std::string& id) {
  for (const HostChange& host : rollout.hosts) {
    if (host.host_id == id) return &host;
  }
  return nullptr;
}

void AddControls(int count, History* history) {
  for (int i = 0; i < count; ++i) {
    history->AddHost(absl::StrCat("old-", i), kBase, kBoot + i % 4);
  }
}

TEST(RolloutWindowsTest, AnUpgradeHasAWindowBeforeAndOneAfter) {
  History history;
  history.AddHost("new", kNew, kBoot);
  AddControls(8, &history);
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 20);
  EXPECT_FALSE(rollout.uptime_unmatched);
  const HostChange* const host = Find(rollout, "new");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->arm, Arm::kTreated);
  ASSERT_TRUE(host->before.has_value());
  ASSERT_TRUE(host->after.has_value());
  EXPECT_EQ(host->before->first_day, kBoot - 29);
  EXPECT_EQ(host->after->first_day, kBoot + 2);
  EXPECT_EQ(host->after->hours, 7 * 24);
  EXPECT_EQ(host->after->events_lost, 7u);
  const OperationCounts& counts = host->after->operations.at(kZramRead);
  EXPECT_EQ(counts.operations, 7000u);
  EXPECT_EQ(counts.waits_over_10ms, 14u);
  EXPECT_EQ(counts.measured.waits, WaitSight::kExact);
  EXPECT_EQ(counts.measured.lock_model, LockModel::kMutex);
  EXPECT_TRUE(counts.measured.parts);
  EXPECT_FALSE(counts.measured.latency);
  EXPECT_EQ(counts.daily_longest_hold_ns.size(), 7u);
  EXPECT_THAT(host->co_changes, ElementsAre("preempt: none -> lazy"));
  EXPECT_EQ(host->build_before, "aa");
  EXPECT_EQ(host->build_after, "bb");
  EXPECT_EQ(host->keys.at("cpus"), "64");
  EXPECT_EQ(host->keys.at("uptime"), "longer");
}

TEST(RolloutWindowsTest, ControlsRebootedIntoTheOldKernelInTheSameDays) {
  History history;
  history.AddHost("new", kNew, kBoot);
  AddControls(8, &history);
  history.AddHost("late", kBase, kBoot + 12, kBoot + 40);
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 40);
  const HostChange* const control = Find(rollout, "old-1");
  ASSERT_NE(control, nullptr);
  EXPECT_EQ(control->arm, Arm::kControl);
  EXPECT_TRUE(control->rebooted);
  EXPECT_EQ(control->boot_day, kBoot + 1);
  EXPECT_EQ(control->wave, Find(rollout, "new")->wave);
  const HostChange* const late = Find(rollout, "late");
  ASSERT_NE(late, nullptr);
  EXPECT_FALSE(late->rebooted);
  EXPECT_EQ(late->boot_day, kBoot);
}

TEST(RolloutWindowsTest, WithoutRebootsLaterDaysAreCompared) {
  History history;
  history.AddHost("new", kNew, kBoot);
  for (int i = 0; i < 8; ++i) {
    history.AddHost(absl::StrCat("old-", i), kBase, kBoot - 60);
    for (int64_t day = kBoot - 20; day < kBoot + 20; ++day) {
      history.AddDay(absl::StrCat("old-", i), kBase, day);
    }
  }
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 20);
  EXPECT_TRUE(rollout.uptime_unmatched);
  EXPECT_EQ(Find(rollout, "new")->after->first_day, kBoot + 7);
  EXPECT_EQ(Find(rollout, "old-0")->after->first_day, kBoot + 7);
}

TEST(RolloutWindowsTest, OpenWindowsWaitAndSilentHostsVanish) {
  History history;
  AddControls(8, &history);
  history.AddHost("new", kNew, kBoot);
  history.AddHost("open", kNew, kBoot + 10);
  history.AddHost("silent", kNew, kBoot, kBoot + 3);
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 13);
  EXPECT_EQ(rollout.hosts_waiting, 1u);
  EXPECT_EQ(Find(rollout, "open"), nullptr);
  EXPECT_TRUE(Find(rollout, "silent")->vanished);
  EXPECT_FALSE(Find(rollout, "silent")->after.has_value());
  EXPECT_FALSE(Find(rollout, "new")->vanished);
}

TEST(RolloutWindowsTest, AHostThatIsUpgradedLaterMayServeBeforeThat) {
  History history;
  history.AddHost("new", kNew, kBoot);
  AddControls(8, &history);
  // Upgraded itself: it is treated, in its own wave.
  history.AddHost("next", kNew, kBoot + 21, kBoot + 40);
  // Went to another kernel in the control's window: serves for nothing.
  history.AddHost("gone", "6.16.1", kBoot + 5);
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 40);
  EXPECT_EQ(Find(rollout, "next")->arm, Arm::kTreated);
  EXPECT_EQ(Find(rollout, "gone"), nullptr);
}

TEST(RolloutWindowsTest, AFirstBootIntoTheNewKernelHasNoBefore) {
  History history;
  AddControls(8, &history);
  history.get().boots.push_back({"fresh", kNew, "bb", kBoot, {}, {}});
  for (int64_t day = kBoot; day < kBoot + 12; ++day) {
    history.AddDay("fresh", kNew, day);
  }
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 20);
  const HostChange* const fresh = Find(rollout, "fresh");
  ASSERT_NE(fresh, nullptr);
  EXPECT_FALSE(fresh->before.has_value());
  EXPECT_TRUE(fresh->after.has_value());
}

TEST(RolloutWindowsTest, RolesAndLockFreeOperationsAreToldApart) {
  History history;
  history.AddHost("new", kNew, kBoot);
  AddControls(8, &history);
  for (HostDayCell cell : std::vector<HostDayCell>(history.get().cells)) {
    if (cell.host_id != "new" || cell.kernel_release != kNew) continue;
    // A pin beside the stream: operations are not added up.
    cell.role = Role::kPin;
    cell.acquisitions = 900;
    cell.wait_tier = Tier::kContention;
    history.get().cells.push_back(cell);
    // Loads that take no lock at all.
    HostDayCell load;
    load.host_id = cell.host_id;
    load.kernel_release = cell.kernel_release;
    load.day = cell.day;
    load.subsystem = Subsystem::kZswap;
    load.operation = Operation::kLoad;
    load.lock_model = LockModel::kNone;
    load.latency_tier = Tier::kExact;
    load.timed_operations = 50;
    history.get().cells.push_back(load);
  }
  const Rollout rollout = RolloutOf(history.get(), kBase, kNew, kBoot + 20);
  const auto& operations = Find(rollout, "new")->after->operations;
  const OperationCounts& read = operations.at(kZramRead);
  EXPECT_EQ(read.operations, 7000u);
  EXPECT_FALSE(read.measured.waits.has_value());  // two ways to see waits
  const OperationCounts& load =
      operations.at({Subsystem::kZswap, Operation::kLoad});
  EXPECT_EQ(load.measured.waits, WaitSight::kImpossible);
  EXPECT_EQ(load.measured.lock_model, LockModel::kNone);
  EXPECT_EQ(load.operations, 350u);
  EXPECT_TRUE(load.measured.latency);
}

TEST(RolloutWindowsTest, NothingIsMadeOfNothing) {
  EXPECT_TRUE(RolloutOf({}, kBase, kNew, kBoot).hosts.empty());
}

}  // namespace
}  // namespace swaplock
