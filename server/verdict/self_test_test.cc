#include "server/verdict/self_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

const OperationKey kZramRead = {Subsystem::kZram, Operation::kRead};

// Controls that rebooted into their old kernel; `burst` of them had a bad week
// that all hosts of the wave shared, if they did.
Rollout Controls(int hosts) {
  Rollout rollout;
  rollout.kernel_base = "6.12.57";
  rollout.kernel_new = "6.18.15";
  SeededRandom random(5);
  for (int i = 0; i < hosts; ++i) {
    HostChange host;
    host.host_id = absl::StrCat("host-", i);
    host.wave = i % 2;
    for (std::optional<HostWindow>* window : {&host.before, &host.after}) {
      window->emplace();
      (*window)->days = 7;
      (*window)->hours = 168;
      OperationCounts& counts = (*window)->operations[kZramRead];
      counts.measured = {LockModel::kMutex, WaitSight::kExact, true, false};
      counts.operations = 1'000'000;
      counts.waits_over_10ms =
          static_cast<uint64_t>(20 * std::exp(2 * random.Uniform()));
      counts.episodes_over_10ms = counts.waits_over_10ms;
      counts.contended = 100 * counts.waits_over_10ms;
      counts.runnable_ns = counts.waits_over_10ms * 20'000'000;
      counts.hold_ns = 10 * counts.runnable_ns;
    }
    rollout.hosts.push_back(std::move(host));
  }
  return rollout;
}

TEST(SelfTestTest, HalfOfEachWaveIsMadeUp) {
  const Rollout fake = FakeRollout(Controls(40), 1);
  ASSERT_EQ(fake.hosts.size(), 40u);
  int treated[2] = {};
  std::set<std::string> names;
  for (const HostChange& host : fake.hosts) {
    treated[host.wave] += host.arm == Arm::kTreated;
    names.insert(host.host_id);
  }
  EXPECT_EQ(treated[0], 10);
  EXPECT_EQ(treated[1], 10);
  EXPECT_EQ(names.size(), 40u);
  // Another seed makes other halves.
  const Rollout other = FakeRollout(Controls(40), 2);
  std::set<std::string> a;
  std::set<std::string> b;
  for (const HostChange& host : fake.hosts) {
    if (host.arm == Arm::kTreated) a.insert(host.host_id);
  }
  for (const HostChange& host : other.hosts) {
    if (host.arm == Arm::kTreated) b.insert(host.host_id);
  }
  EXPECT_NE(a, b);
}

TEST(SelfTestTest, EverySeedMakesAnotherSplit) {
  std::set<std::set<std::string>> splits;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::set<std::string> treated;
    for (const HostChange& host : FakeRollout(Controls(40), seed).hosts) {
      if (host.arm == Arm::kTreated) treated.insert(host.host_id);
    }
    splits.insert(treated);
  }
  EXPECT_EQ(splits.size(), 100u);
}

TEST(SelfTestTest, SpikesMultiplyWhatUpgradedHostsCounted) {
  const Rollout fake = FakeRollout(Controls(40), 1);
  const Rollout spiked = Spiked(fake, 1.5, 3);
  double before = 0;
  double after = 0;
  for (size_t i = 0; i < fake.hosts.size(); ++i) {
    const uint64_t a =
        fake.hosts[i].after->operations.at(kZramRead).waits_over_10ms;
    const uint64_t b =
        spiked.hosts[i].after->operations.at(kZramRead).waits_over_10ms;
    if (fake.hosts[i].arm == Arm::kControl) {
      EXPECT_EQ(a, b);
      continue;
    }
    before += static_cast<double>(a);
    after += static_cast<double>(b);
  }
  EXPECT_NEAR(after / before, 1.5, 0.05);
}

TEST(SelfTestTest, FindsNoEffectWhereNoneIsAndOneWhereOneWasMade) {
  const std::vector<SelfTestResult> none = SelfTest(Controls(80), {}, 1, 60, 7);
  ASSERT_EQ(none.size(), 3u);
  for (const SelfTestResult& result : none) {
    EXPECT_EQ(result.splits, 60u);
    EXPECT_LE(result.rejected, 9u);
    EXPECT_FALSE(result.broken);
    EXPECT_LE(result.share.lower, 0.05);
  }
  const std::vector<SelfTestResult> spiked =
      SelfTest(Controls(80), {}, 3, 20, 7);
  for (const SelfTestResult& result : spiked) {
    EXPECT_GE(result.rejected, 18u);
    EXPECT_GE(result.flagged, 15u);
    EXPECT_FALSE(result.broken);
  }
}

TEST(SelfTestTest, NothingToTestGivesNothing) {
  EXPECT_TRUE(SelfTest({}, {}, 1, 5, 1).empty());
  EXPECT_TRUE(SelfTest(Controls(6), {}, 1, 5, 1).empty());
}

}  // namespace
}  // namespace swaplock
