#include "server/verdict/verdict_testing.h"

#include <cmath>
#include <utility>

namespace swaplock {
namespace {

constexpr int64_t kToday = 20'468;  // 2026-01-15

ArmTotals Arm130(uint64_t hosts, double events_before, double events_after) {
  ArmTotals arm;
  arm.hosts = hosts;
  arm.hours_before = 168.0 * static_cast<double>(hosts);
  arm.hours_after = 168.0 * static_cast<double>(hosts);
  arm.operations_before = 4e7 * static_cast<double>(hosts);
  arm.operations_after = 4.1e7 * static_cast<double>(hosts);
  arm.events_before = events_before;
  arm.events_after = events_after;
  return arm;
}

VerdictRecord RecordOf(const char* base, const char* newer, Subsystem subsystem,
                       Operation operation, VerdictOutcome outcome,
                       VerdictKind kind) {
  VerdictRecord r;
  r.kernel_base = base;
  r.kernel_new = newer;
  r.subsystem = subsystem;
  r.operation = operation;
  r.outcome = outcome;
  r.kind = kind;
  r.family = 24;
  r.seed = 7;
  r.lock_model_base = r.lock_model_new = "mutex";
  return r;
}

VerdictRecord Regression() {
  VerdictRecord r =
      RecordOf("6.12.57", "6.18.15", Subsystem::kZram, Operation::kRead,
               VerdictOutcome::kWaitsOver10ms, VerdictKind::kRegression);
  r.sentence =
      "6.18.15 (together with preempt: none -> lazy) is worse than 6.12.57 for "
      "zram read: 2.13 times as many waits over 10 ms per operation (90 % "
      "interval 1.61 to 2.72, 130 upgraded hosts and 128 that were not, p = "
      "0.0001).";
  r.findings = {
      "Holders of the lock were runnable but off-CPU for 84 % of the time they "
      "held it, and for 3 % before."};
  r.treated = Arm130(130, 4'210, 9'130);
  r.treated.left_out_few_operations = 4;
  r.treated.vanished = 1;
  r.controls = Arm130(128, 4'190, 4'300);
  r.controls.left_out_not_rebooted = 12;
  r.gates = {{"loss", true,
              "0.02 % of events lost by upgraded hosts, 0.02 % by "
              "others"},
             {"attrition", true, "0.8 % fell silent, 0.0 % of others"}};
  r.p_worse = 0.0001;
  r.p_better = 0.98;
  r.adjusted_p = 0.0012;
  r.smallest_p = 0.0001;
  r.effect = {2.13, 1.61, 2.72};
  r.fleet = {2.4, 1.2, INFINITY};
  r.p_without_one_host = 0.0004;
  r.sequential.pairs = 118;
  r.sequential.worse = 82;
  r.sequential.better = 31;
  r.sequential.log_e_worse = 9.3;
  r.sequential.log_e_better = -4.1;
  r.sequential.p_worse = 0.00009;
  r.sequential.p_better = 0.8;
  r.sequential.alarm = Direction::kHigher;
  r.sequential.alarm_day = kToday - 4;
  r.detectable_ratio = 1.52;
  r.hosts_needed = 136;
  r.strata = {{"cpus: 8, tier: web", 70, 68, {2.2, 1.5, 3.1}},
              {"cpus: 64, tier: db", 60, 60, {2.0, 1.4, 2.9}}};
  r.heterogeneity_q = 0.21;
  r.heterogeneity_i2 = 0;
  r.top_hosts = {{"web-17", Arm::kTreated, 812, 0.089, 3.1},
                 {"db-2", Arm::kControl, 303, 0.07, 0.9}};
  r.builds_before = {"6.12.57+deb13-amd64"};
  r.builds_after = {"0a1b2c", "3d4e5f"};
  r.co_changes = {"preempt: none -> lazy"};
  r.lock_model_base = "local_lock";
  r.runnable_share_before = 0.03;
  r.runnable_share_after = 0.84;
  r.secondary = {
      {VerdictOutcome::kWaitsOver1ms, 0.001, 0.99, {1.7, 1.3, 2.2}},
      {VerdictOutcome::kSlowOperations, 0.03, 0.9, {1.4, 1.05, 1.9}}};
  r.quantiles = {
      {0.99, {1.8, {1.5, 2.2}, ""}, {1.02, {0.9, 1.15}, ""}},
      {0.999, {0, {}, "100 values above it are needed"}, {1, {0.8, 1.3}, ""}}};
  ReturnLevel level;
  level.host_days = 910;
  level.longest_ns = 2'500'000'000;
  level.days_over_10ms = 320;
  level.level_ns = 1.9e9;
  level.interval_ns = {1.4e9, 2.6e9};
  level.shape = 0.2;
  r.longest_treated = level;
  ReturnLevel none;
  none.host_days = 896;
  none.longest_ns = 9'000'000;
  none.missing = "no day over 10 ms";
  none.share_bound = 0.0033;
  r.longest_controls = none;
  return r;
}

VerdictRecord ZswapRegression() {
  VerdictRecord r =
      RecordOf("6.12.57", "6.18.15", Subsystem::kZswap, Operation::kLoad,
               VerdictOutcome::kContended, VerdictKind::kRegression);
  r.sentence =
      "6.18.15 is worse than 6.12.57 for zswap load: 1.6 times as many "
      "contended acquisitions per operation (90 % interval 1.3 to 1.9, 130 "
      "upgraded hosts and 128 that were not, p = 0.0002).";
  r.treated = Arm130(130, 900'000, 1'440'000);
  r.controls = Arm130(128, 890'000, 900'000);
  r.p_worse = 0.0002;
  r.p_better = 0.99;
  r.adjusted_p = 0.002;
  r.effect = {1.6, 1.3, 1.9};
  return r;
}

VerdictRecord Inconclusive() {
  VerdictRecord r =
      RecordOf("6.12.57", "6.18.15", Subsystem::kZram, Operation::kWrite,
               VerdictOutcome::kWaitsOver10ms, VerdictKind::kInconclusive);
  r.reason =
      "the difference may be none or may be material; with these hosts a ratio "
      "of 2.7 would have been found 4 times in 5";
  r.sentence =
      "It is open whether 6.18.15 differs from 6.12.57 for zram write, waits "
      "over 10 ms per operation: " +
      r.reason + ".";
  r.treated = Arm130(22, 31, 40);
  r.controls = Arm130(25, 30, 33);
  r.p_worse = 0.21;
  r.p_better = 0.8;
  r.p_exact = true;
  r.adjusted_p = 0.5;
  r.effect = {1.2, 0.7, 2.1};
  r.detectable_ratio = 2.7;
  r.hosts_needed = 131;
  return r;
}

VerdictRecord NotComparable() {
  VerdictRecord r =
      RecordOf("6.12.57", "6.18.15", Subsystem::kZram, Operation::kRead,
               VerdictOutcome::kRunnable, VerdictKind::kNotComparable);
  r.reason =
      "the lock changed from local_lock to mutex, and holds of different locks "
      "differ";
  r.sentence =
      "6.18.15 cannot be compared with 6.12.57 for zram read, time a holder "
      "was runnable off-CPU per operation: " +
      r.reason + ".";
  r.lock_model_base = "local_lock";
  return r;
}

VerdictRecord Improvement() {
  VerdictRecord r =
      RecordOf("6.18.15", "6.18.16", Subsystem::kZram, Operation::kRead,
               VerdictOutcome::kWaitsOver10ms, VerdictKind::kImprovement);
  r.sentence =
      "6.18.16 is better than 6.18.15 for zram read: 0.4 times as many waits "
      "over 10 ms per operation (90 % interval 0.3 to 0.55, 60 upgraded hosts "
      "and 58 that were not, p = 0.0001).";
  r.treated = Arm130(60, 4'000, 1'700);
  r.controls = Arm130(58, 4'100, 4'000);
  r.p_worse = 0.99;
  r.p_better = 0.0001;
  r.adjusted_p = 0.001;
  r.effect = {0.4, 0.3, 0.55};
  return r;
}

VerdictRecord NoChange() {
  VerdictRecord r =
      RecordOf("6.18.15", "6.18.16", Subsystem::kZram, Operation::kWrite,
               VerdictOutcome::kContended, VerdictKind::kNoMaterialChange);
  r.sentence =
      "6.18.16 and 6.18.15 do not differ for zram write: 1.01 times as many "
      "contended acquisitions per operation (90 % interval 0.97 to 1.05, 60 "
      "upgraded hosts and 58 that were not, p = 0.4).";
  r.treated = Arm130(60, 80'000, 81'000);
  r.controls = Arm130(58, 79'000, 79'500);
  r.p_worse = 0.4;
  r.p_better = 0.6;
  r.adjusted_p = 0.9;
  r.effect = {1.01, 0.97, 1.05};
  return r;
}

}  // namespace

absl::Time TestBookTime() {
  return absl::UnixEpoch() + kToday * absl::Hours(24) + absl::Hours(12);
}

VerdictBook TestBook() {
  VerdictBook book;
  const absl::Time now = TestBookTime();
  const auto add = [&](VerdictRecord record) {
    StoredVerdict v;
    v.id = book.verdicts.size() + 1;
    v.version = 3;
    v.engine = kVerdictEngine;
    v.evaluation = 12;
    v.record = std::move(record);
    v.first_day = kToday - 30;
    v.last_day = kToday - 1;
    v.first_judged = now - absl::Hours(24 * 6);
    v.since = now - absl::Hours(24 * 2);
    v.judged = now;
    v.mark.at = now - absl::Hours(24);
    book.verdicts.push_back(std::move(v));
  };
  for (VerdictRecord record : {Regression(), ZswapRegression(), Inconclusive(),
                               NotComparable(), Improvement(), NoChange()}) {
    add(std::move(record));
  }
  book.verdicts[0].incident = book.verdicts[1].incident = 1;
  book.verdicts[0].alerts = true;
  StoredVerdict& suppressed = book.verdicts[1];
  suppressed.mark = {VerdictState::kSuppressed, "ops", "known codec change",
                     now - absl::Hours(20), now + absl::Hours(24 * 7)};
  suppressed.silent_because = "it is suppressed";
  book.incidents = {{1,
                     {"6.12.57", "6.18.15"},
                     now - absl::Hours(24 * 2),
                     absl::InfiniteFuture(),
                     {1, 2},
                     book.verdicts[0].record.sentence}};
  JudgedPair pair;
  pair.pair = {"6.12.57", "6.18.15"};
  pair.chosen_because = "predecessor of most hosts";
  pair.look = 2;
  pair.hosts_upgraded = 132;
  pair.hosts_waiting = 2;
  pair.controls = 128;
  pair.last_day = kToday - 1;
  pair.judged = now;
  pair.holdback = {
      {"cpus: 8, tier: web", 70, 68, 2, 14, ""},
      {"cpus: 64, tier: db", 60, 6, 54, 8, "2 more hosts should stay."}};
  book.pairs = {pair};
  pair = JudgedPair();
  pair.pair = {"6.18.15", "6.18.16"};
  pair.chosen_because = "predecessor of most hosts";
  pair.ended = true;
  pair.look = 1;
  pair.hosts_upgraded = 60;
  pair.controls = 58;
  pair.last_day = kToday - 1;
  pair.judged = now;
  book.pairs.push_back(pair);
  book.self_test.kernel_release = "6.12.57";
  book.self_test.hosts = 400;
  book.self_test.splits = 200;
  book.self_test.last_day = kToday - 1;
  book.self_test.made = now - absl::Hours(10);
  book.self_test.spike = 1.5;
  const OperationKey read = {Subsystem::kZram, Operation::kRead};
  book.self_test.false_alarms = {
      {read, VerdictOutcome::kWaitsOver10ms, 200, 9, 1, {0.021, 0.084}, false},
      {read, VerdictOutcome::kContended, 200, 31, 6, {0.108, 0.213}, true}};
  book.self_test.power = {
      {read,
       VerdictOutcome::kWaitsOver10ms,
       200,
       162,
       118,
       {0.749, 0.862},
       false},
      {read, VerdictOutcome::kContended, 200, 180, 150, {0.85, 0.938}, false}};
  book.judged = now;
  return book;
}

FakeDesk::FakeDesk(VerdictBook book)
    : book_(std::make_shared<const VerdictBook>(std::move(book))) {}

std::shared_ptr<const VerdictBook> FakeDesk::Book() const {
  absl::MutexLock lock(&mutex_);
  return book_;
}

absl::StatusOr<std::vector<StoredVerdict>> FakeDesk::History(uint64_t id) {
  const std::shared_ptr<const VerdictBook> book = Book();
  const StoredVerdict* verdict = FindVerdict(*book, id);
  if (verdict == nullptr)
    return absl::NotFoundError("there is no such verdict");
  return std::vector<StoredVerdict>{*verdict};
}

absl::Status FakeDesk::Mark(uint64_t id, VerdictMark mark) {
  absl::MutexLock lock(&mutex_);
  VerdictBook book = *book_;
  for (StoredVerdict& verdict : book.verdicts) {
    if (verdict.id != id) continue;
    verdict.mark = std::move(mark);
    verdict.alerts = verdict.record.kind == VerdictKind::kRegression &&
                     verdict.mark.state == VerdictState::kNew;
    book_ = std::make_shared<const VerdictBook>(std::move(book));
    return absl::OkStatus();
  }
  return absl::NotFoundError("there is no such verdict");
}

absl::Status FakeDesk::Acknowledge(uint64_t id, const std::string& by,
                                   const std::string& reason) {
  return Mark(id, {VerdictState::kAcknowledged, by, reason, TestBookTime(),
                   absl::InfiniteFuture()});
}

absl::Status FakeDesk::Suppress(uint64_t id, const std::string& by,
                                const std::string& reason, absl::Time until) {
  if (reason.empty()) {
    return absl::InvalidArgumentError("a suppression needs a reason");
  }
  return Mark(id,
              {VerdictState::kSuppressed, by, reason, TestBookTime(), until});
}

absl::Status FakeDesk::Reopen(uint64_t id, const std::string& by) {
  return Mark(
      id, {VerdictState::kNew, by, "", TestBookTime(), absl::InfiniteFuture()});
}

absl::StatusOr<PairComparison> FakeDesk::Compare(const KernelPair& pair) {
  PairComparison out;
  out.pair = pair;
  const std::shared_ptr<const VerdictBook> book = Book();
  for (const StoredVerdict& verdict : book->verdicts) {
    const VerdictRecord& r = verdict.record;
    if (r.kernel_base != pair.base || r.kernel_new != pair.newer) continue;
    out.verdicts.push_back(r);
  }
  if (out.verdicts.empty()) {
    return absl::NotFoundError("no host ran one of the two kernels");
  }
  out.first_day = kToday - 30;
  out.last_day = kToday - 1;
  out.hosts_upgraded = 132;
  out.controls = 128;
  return out;
}

}  // namespace swaplock
