#include "server/verdict/judge_rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const OperationKey kRead = {Subsystem::kZram, Operation::kRead};
const OperationKey kWrite = {Subsystem::kZram, Operation::kWrite};

void SetWaits(double waits, OperationCounts* counts) {
  counts->waits_over_10ms = static_cast<uint64_t>(std::lround(waits));
  counts->episodes_over_10ms = counts->waits_over_10ms;
  counts->contended = 100 * counts->waits_over_10ms;
  counts->runnable_ns = 20'000'000 * counts->waits_over_10ms;
  counts->longest_runnable_ns = 20'000'000;
  counts->hold_ns = 2 * counts->runnable_ns;
}

// `hosts` of either arm; the new kernel has `ratio` times the rate. Hosts
// differ in their rates and, by about `noise`, in how they change.
Rollout Fleet(int hosts, double ratio, double noise = 0.3) {
  Rollout rollout;
  rollout.kernel_base = "6.12.57";
  rollout.kernel_new = "6.18.15";
  SeededRandom random(11);
  for (const Arm arm : {Arm::kTreated, Arm::kControl}) {
    for (int i = 0; i < hosts; ++i) {
      HostChange host;
      host.arm = arm;
      host.host_id = absl::StrCat(arm == Arm::kTreated ? "new-" : "old-", i);
      host.boot_day = 20'000 + i % 5;
      host.build_before = "aaaa";
      host.build_after = arm == Arm::kTreated ? "bbbb" : "aaaa";
      const double rate = 200 * std::exp(2 * (random.Uniform() - 0.5));
      for (std::optional<HostWindow>* window : {&host.before, &host.after}) {
        const bool after = window == &host.after;
        window->emplace();
        (*window)->first_day = host.boot_day + (after ? 2 : -8);
        (*window)->days = 7;
        (*window)->hours = 168;
        OperationCounts& counts = (*window)->operations[kRead];
        counts.measured = {LockModel::kMutex, WaitSight::kExact, true, false};
        counts.operations = 10'000'000;
        const double change =
            after ? std::exp(noise * 4 * (random.Uniform() - 0.5)) *
                        (arm == Arm::kTreated ? ratio : 1)
                  : 1;
        SetWaits(rate * change, &counts);
      }
      rollout.hosts.push_back(std::move(host));
    }
  }
  return rollout;
}

template <typename Change>
void Each(Rollout* rollout, Arm arm, const Change& change) {
  for (HostChange& host : rollout->hosts) {
    if (host.arm == arm) change(&host);
  }
}

OperationCounts& After(HostChange* host, const OperationKey& key = kRead) {
  return host->after->operations[key];
}
OperationCounts& Before(HostChange* host, const OperationKey& key = kRead) {
  return host->before->operations[key];
}

VerdictRecord Of(const Rollout& rollout, VerdictOutcome outcome,
                 const RolloutRules& rules = {},
                 const OperationKey& operation = kRead) {
  for (const VerdictRecord& record : JudgeRollout(rollout, rules).verdicts) {
    if (record.outcome == outcome && record.subsystem == operation.first &&
        record.operation == operation.second) {
      return record;
    }
  }
  ADD_FAILURE() << "no such verdict";
  return {};
}

VerdictRecord Waits(const Rollout& rollout, const RolloutRules& rules = {}) {
  return Of(rollout, VerdictOutcome::kWaitsOver10ms, rules);
}

TEST(JudgeRolloutTest, ThreeTimesTheWaitsIsARegression) {
  Rollout rollout = Fleet(20, 3);
  Each(&rollout, Arm::kTreated, [](HostChange* host) {
    host->co_changes.insert("preempt: none -> lazy");
  });
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kRegression) << r.sentence;
  EXPECT_EQ(r.design, Design::kBeforeAfterWithControls);
  EXPECT_NEAR(r.effect.ratio, 3, 0.5);
  EXPECT_GT(r.effect.lower, 1.10);
  EXPECT_LT(r.p_worse, 1e-4);
  EXPECT_GT(r.p_better, 0.99);
  EXPECT_TRUE(r.p_exact);
  EXPECT_EQ(r.family, 6u);
  EXPECT_EQ(r.treated.hosts, 20u);
  EXPECT_EQ(r.reason, "");
  EXPECT_THAT(r.sentence,
              HasSubstr("6.18.15 (together with preempt: none -> lazy) is "
                        "worse than 6.12.57 for zram read: "));
  EXPECT_THAT(r.builds_before, ElementsAre("aaaa"));
  EXPECT_THAT(r.builds_after, ElementsAre("bbbb"));
  EXPECT_NEAR(r.fleet.ratio, 3, 1);
  EXPECT_EQ(r.top_hosts.size(), 5u);
  EXPECT_EQ(r.lock_model_new, "mutex");
}

TEST(JudgeRolloutTest, AThirdIsAnImprovementAndTheMirrorImage) {
  const VerdictRecord r = Waits(Fleet(20, 1.0 / 3));
  EXPECT_EQ(r.kind, VerdictKind::kImprovement) << r.sentence;
  EXPECT_LT(r.effect.upper, 1 / 1.10);
}

TEST(JudgeRolloutTest, TightlyEqualRatesAreNoMaterialChange) {
  const VerdictRecord r = Waits(Fleet(60, 1, 0.01));
  EXPECT_EQ(r.kind, VerdictKind::kNoMaterialChange) << r.sentence;
}

TEST(JudgeRolloutTest, AnOpenQuestionSaysWhatIsMissing) {
  const VerdictRecord r = Waits(Fleet(20, 1, 1));
  EXPECT_EQ(r.kind, VerdictKind::kInconclusive);
  EXPECT_GT(r.detectable_ratio, 1.10);
  EXPECT_GT(r.hosts_needed, 20u);
  EXPECT_THAT(r.reason, HasSubstr("would have been seen"));
  EXPECT_THAT(r.reason, HasSubstr("more of each"));
}

// Significant, yet less than the margin.
TEST(JudgeRolloutTest, ASmallCertainDifferenceIsNotARegression) {
  const VerdictRecord r = Waits(Fleet(60, 1.05, 0.02));
  EXPECT_EQ(r.kind, VerdictKind::kNoMaterialChange) << r.sentence;
  EXPECT_GT(r.effect.lower, 1);
}

TEST(JudgeRolloutTest, SevenHostsAreTooFew) {
  EXPECT_EQ(Waits(Fleet(8, 20)).kind, VerdictKind::kRegression);
  const VerdictRecord r = Waits(Fleet(7, 20));
  EXPECT_EQ(r.kind, VerdictKind::kInconclusive);
  EXPECT_THAT(r.reason, HasSubstr("7 upgraded hosts and 7 others"));
  EXPECT_TRUE(std::isnan(r.p_worse));
}

TEST(JudgeRolloutTest, FewEventsOrShortWindowsAreTooLittle) {
  Rollout rollout = Fleet(20, 3);
  for (HostChange& host : rollout.hosts) {
    SetWaits(0, &Before(&host));
    SetWaits(0, &After(&host));
  }
  SetWaits(30, &After(&rollout.hosts[0]));
  EXPECT_EQ(Waits(rollout).kind, VerdictKind::kInconclusive);
  EXPECT_THAT(Waits(rollout).reason, HasSubstr("on 1 hosts"));
  rollout = Fleet(20, 3);
  for (HostChange& host : rollout.hosts) host.after->hours = 71;
  EXPECT_EQ(Waits(rollout).treated.left_out_few_operations, 20u);
}

TEST(JudgeRolloutTest, MoreOperationsAreNoRegression) {
  Rollout rollout = Fleet(40, 1, 0.05);
  Each(&rollout, Arm::kTreated, [](HostChange* host) {
    After(host).operations = 56'000'000;
    SetWaits(5.6 * static_cast<double>(After(host).waits_over_10ms),
             &After(host));
  });
  const VerdictRecord r = Waits(rollout);
  EXPECT_NE(r.kind, VerdictKind::kRegression);
  EXPECT_NEAR(r.effect.ratio, 1, 0.1);
  EXPECT_THAT(r.findings, Contains(HasSubstr("5.60 times on upgraded")));
  // Users feel it all the same.
  EXPECT_THAT(r.findings, Not(Contains(HasSubstr("per host and hour"))));
  ASSERT_FALSE(r.secondary.empty());
}

TEST(JudgeRolloutTest, WaysToMeasureAreNotMixed) {
  Rollout rollout = Fleet(20, 3);
  Each(&rollout, Arm::kTreated, [](HostChange* host) {
    After(host).measured.waits = WaitSight::kContention;
  });
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kNotComparable);
  EXPECT_THAT(r.reason, HasSubstr("0 of 20 upgraded hosts"));
  EXPECT_TRUE(std::isnan(r.p_worse));
}

TEST(JudgeRolloutTest, HoldsOfDifferentLocksAreNotComparedButWaitsAre) {
  Rollout rollout = Fleet(20, 3);
  Each(&rollout, Arm::kTreated, [](HostChange* host) {
    After(host).measured.lock_model = LockModel::kRwsemShared;
  });
  EXPECT_EQ(Waits(rollout).kind, VerdictKind::kRegression);
  const VerdictRecord holds = Of(rollout, VerdictOutcome::kRunnable);
  EXPECT_EQ(holds.kind, VerdictKind::kNotComparable);
  EXPECT_THAT(holds.reason, HasSubstr("from mutex to rwsem_shared"));
}

// 6.12 turned preemption off: nobody waited, which is known.
TEST(JudgeRolloutTest, ALockThatCannotBeWaitedForComparesWithOneThatCan) {
  Rollout rollout = Fleet(20, 1);
  for (HostChange& host : rollout.hosts) {
    for (OperationCounts* counts : {&Before(&host), &After(&host)}) {
      if (host.arm == Arm::kTreated && counts == &After(&host)) continue;
      counts->measured = {LockModel::kPreemptOff, WaitSight::kImpossible, true,
                          false};
      const uint64_t hold_ns = counts->hold_ns;
      SetWaits(0, counts);
      counts->hold_ns = hold_ns;
    }
  }
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kRegression) << r.sentence;
  EXPECT_THAT(r.sentence, HasSubstr("runnable and not running for 50 %"));
  EXPECT_EQ(Of(rollout, VerdictOutcome::kRunnable).kind,
            VerdictKind::kRegression);
}

TEST(JudgeRolloutTest, ALockThatIsGoneIsAnImprovement) {
  Rollout rollout = Fleet(20, 1);
  Each(&rollout, Arm::kTreated, [](HostChange* host) {
    SetWaits(0, &After(host));
    After(host).measured = {LockModel::kNone, WaitSight::kImpossible, false,
                            false};
  });
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kImprovement) << r.sentence;
  EXPECT_EQ(r.lock_model_new, "none");
}

TEST(JudgeRolloutTest, LossAttritionAndCensoringRefuseAVerdict) {
  Rollout lossy = Fleet(20, 3);
  Each(&lossy, Arm::kTreated,
       [](HostChange* host) { host->after->events_lost = 20'000; });
  EXPECT_EQ(Waits(lossy).kind, VerdictKind::kDataQuality);
  EXPECT_THAT(Waits(lossy).reason, HasSubstr("loss: "));

  Rollout vanishing = Fleet(20, 3);
  for (int i = 0; i < 3; ++i) vanishing.hosts[i].vanished = true;
  EXPECT_EQ(Waits(vanishing).kind, VerdictKind::kDataQuality);
  EXPECT_THAT(Waits(vanishing).reason,
              HasSubstr("3 of 20 upgraded hosts and 0 of 20 others fell "
                        "silent"));
  // A single host is no trend.
  vanishing.hosts[1].vanished = vanishing.hosts[2].vanished = false;
  EXPECT_EQ(Waits(vanishing).kind, VerdictKind::kRegression);

  Rollout censored = Fleet(20, 3);
  Each(&censored, Arm::kTreated, [](HostChange* host) {
    After(host).censored = After(host).waits_over_10ms / 10;
  });
  EXPECT_EQ(Waits(censored).kind, VerdictKind::kDataQuality);
}

TEST(JudgeRolloutTest, AHostWithOtherWorkIsLeftOut) {
  Rollout rollout = Fleet(20, 3);
  After(&rollout.hosts[0]).operations *= 10;
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kRegression);
  EXPECT_EQ(r.treated.hosts, 19u);
  EXPECT_EQ(r.treated.left_out_other_workload, 1u);
}

TEST(JudgeRolloutTest, WithoutHostsOnTheOldKernelItIsASuspicion) {
  Rollout rollout = Fleet(20, 3);
  rollout.hosts.resize(20);
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.design, Design::kBeforeAfter);
  EXPECT_EQ(r.kind, VerdictKind::kSuspect) << r.sentence;
  EXPECT_NEAR(r.effect.ratio, 3, 0.6);
  EXPECT_THAT(r.sentence, HasSubstr("no host stayed on the old kernel"));
}

TEST(JudgeRolloutTest, DifferentHostsMakeASuspicionUnlessAllowed) {
  Rollout rollout = Fleet(30, 6);
  Each(&rollout, Arm::kTreated, [](HostChange* host) { host->before.reset(); });
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.design, Design::kParallelGroups);
  EXPECT_EQ(r.kind, VerdictKind::kSuspect) << r.sentence;
  RolloutRules rules;
  rules.parallel_groups_may_flag = true;
  EXPECT_EQ(Waits(rollout, rules).kind, VerdictKind::kRegression);
  Each(&rollout, Arm::kTreated,
       [](HostChange* host) { host->keys["preempt"] = "lazy"; });
  Each(&rollout, Arm::kControl,
       [](HostChange* host) { host->keys["preempt"] = "none"; });
  EXPECT_EQ(Waits(rollout, rules).kind, VerdictKind::kNotComparable);
  EXPECT_THAT(Waits(rollout, rules).reason,
              HasSubstr("kernel and preempt changed together"));
}

// Eight against eight, separated but for the two hosts that matter most.
TEST(JudgeRolloutTest, WhatRestsOnASingleHostIsASuspicion) {
  RolloutRules rules;
  bool suspect = false;
  for (double ratio = 1.2; ratio < 4 && !suspect; ratio += 0.05) {
    const VerdictRecord r = Waits(Fleet(10, ratio, 0.4), rules);
    if (r.kind != VerdictKind::kSuspect) continue;
    suspect = true;
    EXPECT_EQ(r.reason, "it rests on a single host");
    EXPECT_GT(r.p_without_one_host, r.p_worse);
  }
  EXPECT_TRUE(suspect);
}

TEST(JudgeRolloutTest, ACrazyHostIsNamedAndChangesNothing) {
  Rollout rollout = Fleet(20, 1);
  SetWaits(1e6, &After(&rollout.hosts[3]));
  const VerdictRecord r = Waits(rollout);
  EXPECT_NE(r.kind, VerdictKind::kRegression);
  ASSERT_FALSE(r.top_hosts.empty());
  EXPECT_EQ(r.top_hosts[0].host_id, "new-3");
  EXPECT_THAT(r.findings, Contains(HasSubstr("Host new-3 alone has")));
}

TEST(JudgeRolloutTest, ShiftedCostIsMixed) {
  Rollout rollout = Fleet(20, 1.0 / 3);
  for (HostChange& host : rollout.hosts) {
    Before(&host, kWrite) = Before(&host);
    After(&host, kWrite) = Before(&host);
    if (host.arm == Arm::kTreated) {
      SetWaits(4.0 * static_cast<double>(Before(&host).waits_over_10ms),
               &After(&host, kWrite));
    }
  }
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kMixed) << r.sentence;
  EXPECT_THAT(r.reason, HasSubstr("the cost moved"));
  EXPECT_THAT(r.reason, HasSubstr("write"));
  EXPECT_EQ(Of(rollout, VerdictOutcome::kWaitsOver10ms, {}, kWrite).kind,
            VerdictKind::kRegression);
}

TEST(JudgeRolloutTest, SlowerOperationsTurnAnImprovementIntoMixed) {
  Rollout rollout = Fleet(20, 1.0 / 3);
  for (HostChange& host : rollout.hosts) {
    for (OperationCounts* counts : {&Before(&host), &After(&host)}) {
      counts->measured.latency = true;
      counts->timed_operations = counts->operations;
      counts->slow_operations =
          host.arm == Arm::kTreated && counts == &After(&host) ? 900 : 300;
    }
  }
  EXPECT_EQ(Waits(rollout).kind, VerdictKind::kMixed);
  EXPECT_THAT(Waits(rollout).reason, HasSubstr("operations over 10 ms"));
}

TEST(JudgeRolloutTest, StrataThatDisagreeAreMixed) {
  Rollout rollout = Fleet(60, 1);
  for (size_t i = 0; i < rollout.hosts.size(); ++i) {
    HostChange& host = rollout.hosts[i];
    const bool amd = i % 4 == 0;
    host.keys["cpu_family"] = amd ? "amd" : "intel";
    if (host.arm == Arm::kTreated) {
      SetWaits(
          static_cast<double>(After(&host).waits_over_10ms) * (amd ? 0.1 : 4),
          &After(&host));
    }
  }
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kMixed) << r.sentence;
  EXPECT_GE(r.strata.size(), 2u);
  EXPECT_GT(r.heterogeneity_i2, 0.5);
}

TEST(JudgeRolloutTest, OnlyASecondaryOutcomeIsASuspicion) {
  Rollout rollout = Fleet(40, 1, 0.05);
  for (HostChange& host : rollout.hosts) {
    Before(&host).waits_over_100ms = 20;
    After(&host).waits_over_100ms = host.arm == Arm::kTreated ? 80 : 20;
  }
  const VerdictRecord r = Waits(rollout);
  EXPECT_EQ(r.kind, VerdictKind::kSuspect) << r.sentence;
  EXPECT_THAT(r.reason, HasSubstr("only waits over 100 ms"));
}

TEST(JudgeRolloutTest, DuringTheRolloutOnlyAnAlarmFlags) {
  RolloutRules rules;
  rules.ended = false;
  const VerdictRecord early = Waits(Fleet(10, 3), rules);
  EXPECT_EQ(early.kind, VerdictKind::kInconclusive);
  EXPECT_THAT(early.reason, HasSubstr("the rollout goes on, and 10 pairs"));
  EXPECT_LE(early.p_worse, 0.001);

  const VerdictRecord late = Waits(Fleet(40, 6), rules);
  EXPECT_EQ(late.kind, VerdictKind::kRegression) << late.sentence;
  ASSERT_TRUE(late.sequential.alarm.has_value());
  EXPECT_EQ(*late.sequential.alarm, Direction::kHigher);
  EXPECT_GE(late.sequential.alarm_day, 20'009);
  EXPECT_LE(late.sequential.alarm_day, 20'013);
  EXPECT_LT(late.sequential.p_worse, 0.025 / 6);
  EXPECT_THAT(late.sentence, HasSubstr("sequential p"));
}

TEST(JudgeRolloutTest, AdvisesAHoldbackWhileTheRolloutRuns) {
  Rollout rollout = Fleet(30, 1);
  rollout.hosts.resize(42);  // 12 controls are left
  rollout.hosts_waiting = 5;
  RolloutRules rules;
  rules.ended = false;
  const RolloutVerdicts verdicts = JudgeRollout(rollout, rules);
  ASSERT_FALSE(verdicts.holdback.empty());
  EXPECT_THAT(verdicts.holdback[0].advice, HasSubstr("have no host"));
  EXPECT_THAT(verdicts.verdicts[0].reason, HasSubstr("5 more upgraded hosts"));
  EXPECT_THAT(JudgeRollout(rollout, {}).holdback, IsEmpty());
}

TEST(JudgeRolloutTest, TwoEvaluationsInARowAreNeeded) {
  std::vector<VerdictRecord> today = JudgeRollout(Fleet(20, 3), {}).verdicts;
  for (VerdictRecord& record : today) record.sequential.alarm.reset();
  std::vector<VerdictRecord> first = today;
  Confirm({}, &first);
  EXPECT_EQ(first[0].kind, VerdictKind::kInconclusive);
  EXPECT_THAT(first[0].sentence, HasSubstr("two in a row"));
  std::vector<VerdictRecord> second = today;
  Confirm(today, &second);
  EXPECT_EQ(second[0].kind, VerdictKind::kRegression);
}

TEST(JudgeRolloutTest, TheOrderOfRowsDoesNotMatter) {
  Rollout rollout = Fleet(60, 1.5);
  const VerdictRecord a = Waits(rollout);
  std::reverse(rollout.hosts.begin(), rollout.hosts.end());
  const VerdictRecord b = Waits(rollout);
  EXPECT_EQ(a.sentence, b.sentence);
  EXPECT_EQ(a.p_worse, b.p_worse);
  EXPECT_EQ(a.effect.lower, b.effect.lower);
  EXPECT_EQ(a.sequential.log_e_worse, b.sequential.log_e_worse);
}

TEST(JudgeRolloutTest, NothingIsSaidOfNothing) {
  EXPECT_THAT(JudgeRollout({}, {}).verdicts, IsEmpty());
}

}  // namespace
}  // namespace swaplock
