// The engine on a real ledger: windows in, days pass, verdicts out.
#include "server/judge/verdict_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/verdict/verdict_message.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

constexpr char kBase[] = "6.12.57";
constexpr char kNew[] = "6.18.15";
constexpr int64_t kFirst = 20'000;    // day of the first windows
constexpr int64_t kBoot = 20'010;     // day of the reboots
constexpr int64_t kLook = kBoot + 8;  // last day of the after-windows
constexpr int kHosts = 24;
constexpr int64_t kDaySeconds = 86'400;
constexpr uint64_t kSecond = 1'000'000'000;

absl::Time Noon(int64_t day) {
  return absl::FromUnixSeconds(day * kDaySeconds + kDaySeconds / 2);
}

// Waits over 10 ms of the host on the day.
using WaitsOn = std::function<uint64_t(int host, int64_t day)>;

uint64_t Usual(int host, int64_t day) {
  return 40 + static_cast<uint64_t>((host * int64_t{7} + day * 5) % 11);
}

class VerdictEngineTest : public ::testing::Test {
 protected:
  VerdictEngineTest() {
    std::string path = ::testing::TempDir() + "/engine-XXXXXX";
    directory_ = mkdtemp(path.data());
    auto ledger = SqliteLedger::Open(directory_);
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    ledger_ = *std::move(ledger);
    options_.self_test_splits = 0;
    options_.look_interval = absl::ZeroDuration();
  }

  void Open() {
    VerdictSources sources;
    sources.evidence = [this] { return ledger_->OpenEvidence(); };
    sources.store = ledger_->verdicts();
    sources.now = [this] { return now_; };
    sources.hosts_aside = [this] { return aside_; };
    sources.other_kernel = "other";
    engine_ = std::make_unique<VerdictEngine>(std::move(sources), options_);
    const absl::Status s = engine_->Load();
    ASSERT_TRUE(s.ok()) << s;
  }

  // All hosts reboot on kBoot, even ones into `kernel`. Then time is the noon
  // after the last day.
  void Feed(int64_t first, int64_t last, const WaitsOn& waits,
            const std::string& kernel = kNew) {
    std::vector<Window> windows;
    for (int64_t day = first; day <= last; ++day) {
      for (int host = 0; host < kHosts; ++host) {
        const bool upgraded = day >= kBoot && host % 2 == 0;
        windows.push_back(
            WindowOf(host, day, upgraded ? kernel : kBase, waits(host, day)));
      }
    }
    const auto outcomes = ledger_->Commit(windows, Noon(last));
    ASSERT_TRUE(outcomes.ok()) << outcomes.status();
    now_ = Noon(last + 1);
  }

  static Window WindowOf(int host, int64_t day, const std::string& kernel,
                         uint64_t waits) {
    Window window = MakeWindow(absl::StrCat("h", host), 1, kernel);
    const bool rebooted = day >= kBoot;
    window.key.boot_id = std::string(16, rebooted ? 'b' : 'a');
    window.key.seq = static_cast<uint64_t>(day);
    const int64_t booted = rebooted ? kBoot : kFirst - 10;
    window.end_boottime_ns =
        kSecond *
        static_cast<uint64_t>((day - booted) * kDaySeconds + kDaySeconds / 2);
    window.start_boottime_ns =
        window.end_boottime_ns -
        std::min(window.end_boottime_ns, kDaySeconds * kSecond);
    window.end_unix_ns = static_cast<uint64_t>(absl::ToUnixNanos(Noon(day)));
    window.environment.preempt = kernel == kBase ? "none" : "lazy";
    window.environment.cpus = 16;
    window.losses.clear();
    window.top_holds.clear();
    window.cells.resize(1);
    Cell& cell = window.cells[0];
    cell.wait_tier = Tier::kExact;
    cell.acquisitions = 1'000'000;
    cell.contended = 20 * waits;
    cell.wait.over_1ms = 3 * waits;
    cell.wait.over_10ms = waits;
    cell.wait.over_100ms = 0;
    cell.wait.sum_ns = waits * 20'000'000;
    cell.wait.max_ns = 30'000'000;
    cell.hold.sum_ns = 1'000'000 * uint64_t{5'000};
    cell.hold.max_ns = 20'000'000;
    cell.runnable.sum_ns = waits * 15'000'000;
    cell.runnable.max_ns = 15'000'000;
    return window;
  }

  void Run() {
    const absl::Status s = engine_->RunDue();
    ASSERT_TRUE(s.ok()) << s;
  }

  // Of waits over 10 ms of zram writes; null when there is none.
  const StoredVerdict* Waits() {
    book_ = engine_->Book();
    for (const StoredVerdict& verdict : book_->verdicts) {
      if (verdict.record.outcome == VerdictOutcome::kWaitsOver10ms) {
        return &verdict;
      }
    }
    return nullptr;
  }

  std::string directory_;
  std::unique_ptr<SqliteLedger> ledger_;
  VerdictOptions options_;
  std::unique_ptr<VerdictEngine> engine_;
  std::shared_ptr<const VerdictBook> book_;
  std::set<std::string> aside_;
  absl::Time now_ = Noon(kFirst);
};

uint64_t WorseAfter(int host, int64_t day) {
  return Usual(host, day) * (day >= kBoot && host % 2 == 0 ? 5 : 1);
}

TEST_F(VerdictEngineTest, FindsARegressionOnTheSecondDayAndKeepsIt) {
  Open();
  Run();
  EXPECT_THAT(engine_->Book()->remark, HasSubstr("No host has sent anything"));
  Feed(kFirst, kBoot + 3, WorseAfter);
  Run();
  EXPECT_EQ(Waits(), nullptr);
  ASSERT_EQ(book_->pairs.size(), 1u);
  EXPECT_EQ(book_->pairs[0].pair.base, kBase);
  EXPECT_EQ(book_->pairs[0].pair.newer, kNew);
  EXPECT_EQ(book_->pairs[0].chosen_because,
            "12 of its hosts ran the base before");
  EXPECT_EQ(book_->pairs[0].hosts_waiting, 12u);
  EXPECT_EQ(book_->remark, "");

  Feed(kBoot + 4, kLook, WorseAfter);
  Run();
  ASSERT_NE(Waits(), nullptr);
  EXPECT_EQ(Waits()->record.kind, VerdictKind::kInconclusive);
  EXPECT_THAT(Waits()->record.reason, HasSubstr("two in a row are needed"));
  EXPECT_FALSE(Waits()->alerts);
  Feed(kLook + 1, kLook + 1, WorseAfter);
  Run();
  const StoredVerdict found = *Waits();
  EXPECT_EQ(found.record.kind, VerdictKind::kRegression)
      << found.record.sentence;
  EXPECT_NEAR(found.record.effect.ratio, 5, 0.5);
  EXPECT_EQ(found.record.treated.hosts, 12u);
  EXPECT_EQ(found.record.controls.hosts, 12u);
  EXPECT_EQ(found.version, 2u);
  EXPECT_EQ(found.last_day, kLook + 1);
  EXPECT_TRUE(found.alerts);
  ASSERT_EQ(book_->incidents.size(), 1u);
  EXPECT_EQ(found.incident, book_->incidents[0].id);
  EXPECT_TRUE(book_->pairs[0].ended);

  // Every version comes out the same again, byte for byte, days later too.
  Feed(kLook + 2, kLook + 4, WorseAfter);
  Run();
  uint64_t versions = 0;
  for (const StoredVerdict& current : engine_->Book()->verdicts) {
    const auto history = engine_->History(current.id);
    ASSERT_TRUE(history.ok()) << history.status();
    EXPECT_EQ(history->size(), current.version);
    for (const StoredVerdict& version : *history) {
      const auto again = engine_->Again(version.evaluation);
      ASSERT_TRUE(again.ok()) << again.status();
      ++versions;
      for (const VerdictRecord& record : again->records) {
        if (SubjectOf(record) != SubjectOf(version.record)) continue;
        EXPECT_EQ(Serialize(record), Serialize(version.record));
      }
    }
  }
  EXPECT_GE(versions, 4u);

  // So does the book after a restart.
  ASSERT_TRUE(engine_->Acknowledge(found.id, "ann", "on it").ok());
  engine_.reset();
  ledger_.reset();
  ledger_ = *SqliteLedger::Open(directory_);
  Open();
  ASSERT_NE(Waits(), nullptr);
  EXPECT_EQ(Serialize(Waits()->record), Serialize(found.record));
  EXPECT_EQ(Waits()->id, found.id);
  EXPECT_EQ(Waits()->version, found.version);
  EXPECT_EQ(Waits()->since, found.since);
  EXPECT_EQ(Waits()->mark.by, "ann");
  EXPECT_EQ(Waits()->silent_because, "acknowledged by ann");
  EXPECT_EQ(book_->incidents.size(), 1u);
  EXPECT_EQ(book_->incidents[0].closed, absl::InfiniteFuture());
  Run();
  EXPECT_EQ(Waits()->version, found.version);
}

TEST_F(VerdictEngineTest, EqualKernelsAreNotFlagged) {
  Open();
  Feed(kFirst, kLook + 1, Usual);
  Run();
  ASSERT_NE(Waits(), nullptr);
  for (const StoredVerdict& verdict : book_->verdicts) {
    EXPECT_FALSE(Flags(verdict.record.kind)) << verdict.record.sentence;
    EXPECT_FALSE(verdict.alerts);
  }
  EXPECT_EQ(Waits()->record.kind, VerdictKind::kNoMaterialChange)
      << Waits()->record.sentence;
  EXPECT_TRUE(book_->incidents.empty());
}

TEST_F(VerdictEngineTest, WhatIsNoLongerSeenWentAway) {
  const auto mended = [](int host, int64_t day) {
    return day > kLook + 2 ? Usual(host, day) : WorseAfter(host, day);
  };
  Open();
  Feed(kFirst, kLook + 1, mended);
  Run();
  EXPECT_TRUE(Waits()->alerts);
  Feed(kLook + 2, kLook + 10, mended);
  Run();
  EXPECT_EQ(Waits()->record.kind, VerdictKind::kRegression);
  EXPECT_THAT(Waits()->went_away, HasSubstr("it is no longer seen"));
  EXPECT_FALSE(Waits()->alerts);
  EXPECT_LE(book_->incidents.at(0).closed, now_);
}

TEST_F(VerdictEngineTest, LateWindowsAreJudgedWithinTheDay) {
  options_.look_interval = absl::Hours(1);
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  Run();
  const uint64_t version = Waits()->version;
  Run();
  EXPECT_EQ(Waits()->version, version);
  Window late = WindowOf(0, kLook - 1, kNew, 7);
  late.key.seq = 5;
  ASSERT_TRUE(ledger_->Commit({late}, now_).ok());
  Run();
  EXPECT_EQ(Waits()->version, version);
  now_ += absl::Hours(1);
  Run();
  EXPECT_EQ(Waits()->version, version + 1);
  EXPECT_EQ(Waits()->record.kind, VerdictKind::kRegression);
}

TEST_F(VerdictEngineTest, ADayCountsSomeTimeAfterItsEnd) {
  Open();
  now_ = absl::FromUnixSeconds(kFirst * kDaySeconds) + absl::Minutes(59);
  EXPECT_EQ(engine_->ClosedDay(), kFirst - 2);
  now_ += absl::Minutes(1);
  EXPECT_EQ(engine_->ClosedDay(), kFirst - 1);
}

TEST_F(VerdictEngineTest, HostsSetAsideAreNoEvidence) {
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  for (int host = 0; host < 12; ++host) aside_.insert(absl::StrCat("h", host));
  Run();
  EXPECT_EQ(Waits(), nullptr);
  EXPECT_EQ(book_->pairs.at(0).hosts_upgraded, 6u);
}

TEST_F(VerdictEngineTest, TestsItselfOncePerDay) {
  options_.self_test_splits = 10;
  Open();
  Run();
  EXPECT_EQ(engine_->Book()->self_test.made, absl::InfinitePast());
  // Nobody gets another kernel.
  Feed(kFirst, kLook + 1, Usual, kBase);
  Run();
  const SelfTestReport report = engine_->Book()->self_test;
  EXPECT_EQ(report.kernel_release, kBase);
  EXPECT_EQ(report.hosts, 24u);
  EXPECT_EQ(report.last_day, kLook + 1);
  EXPECT_EQ(report.missing, "");
  ASSERT_FALSE(report.false_alarms.empty());
  EXPECT_EQ(report.false_alarms[0].splits, 10u);
  EXPECT_FALSE(report.false_alarms[0].broken);
  ASSERT_FALSE(report.power.empty());
  EXPECT_GT(report.power[0].rejected, report.false_alarms[0].rejected);
  const absl::Time made = report.made;
  now_ += absl::Hours(1);
  Run();
  EXPECT_EQ(engine_->Book()->self_test.made, made);
  EXPECT_EQ(engine_->Book()->remark, "There are no two kernels to compare.");
  // It is kept.
  Open();
  EXPECT_EQ(engine_->Book()->self_test.made, made);
  EXPECT_EQ(engine_->Book()->self_test.power.size(), report.power.size());
}

TEST_F(VerdictEngineTest, AFewHostsMakeNoSelfTestAndItSaysSo) {
  options_.self_test_splits = 10;
  Open();
  Feed(kFirst, kLook + 1, Usual);
  Run();
  EXPECT_THAT(engine_->Book()->self_test.missing,
              HasSubstr("12 hosts kept their kernel, and 16 are needed"));
}

TEST_F(VerdictEngineTest, AStoppedEngineDoesNothing) {
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  engine_->Stop();
  Run();
  EXPECT_EQ(Waits(), nullptr);
}

TEST_F(VerdictEngineTest, ComparesAnyTwoKernels) {
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  auto comparison = engine_->Compare({kBase, kNew});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->hosts_upgraded, 12u);
  EXPECT_EQ(comparison->controls, 12u);
  EXPECT_TRUE(comparison->ended);
  ASSERT_FALSE(comparison->verdicts.empty());
  EXPECT_EQ(comparison->verdicts[0].kind, VerdictKind::kRegression);
  EXPECT_EQ(engine_->Book()->verdicts.size(), 0u);
  // Nobody went back.
  comparison = engine_->Compare({kNew, kBase});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_TRUE(comparison->verdicts.empty());
  EXPECT_NE(comparison->remark, "");
  EXPECT_EQ(engine_->Compare({kBase, "5.4"}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(VerdictEngineTest, MarksNeedAVerdictAReasonAndAnEnd) {
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  Run();
  const uint64_t id = Waits()->id;
  EXPECT_EQ(engine_->Acknowledge(99, "ann", "").code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(engine_->History(99).status().code(), absl::StatusCode::kNotFound);
  for (const auto& [reason, hours] :
       {std::make_pair(std::string(), 5), std::make_pair(std::string("x"), -1),
        std::make_pair(std::string("x"), 24 * 366),
        std::make_pair(std::string(1001, 'x'), 5)}) {
    EXPECT_EQ(
        engine_->Suppress(id, "ann", reason, now_ + absl::Hours(hours)).code(),
        absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(Waits()->alerts);
  EXPECT_TRUE(
      engine_->Suppress(id, "ann\n", "known", now_ + absl::Hours(5)).ok());
  EXPECT_FALSE(Waits()->alerts);
  EXPECT_TRUE(engine_->Reopen(id, "ann").ok());
  EXPECT_TRUE(Waits()->alerts);
}

TEST_F(VerdictEngineTest, AFileOfPairsThatBreaksLeavesTheOldRules) {
  options_.pairs_file = directory_ + "/pairs";
  std::ofstream(options_.pairs_file) << "pair a b\n";
  Open();
  Feed(kFirst, kLook + 1, WorseAfter);
  Run();
  EXPECT_EQ(Waits(), nullptr);
  std::ofstream(options_.pairs_file) << "pear a b\n";
  Run();
  EXPECT_EQ(Waits(), nullptr);
  EXPECT_THAT(book_->remark, HasSubstr("line 1: \"pear\" is not one of"));
  std::ofstream(options_.pairs_file) << "";
  Run();
  EXPECT_NE(Waits(), nullptr);
  std::ofstream(options_.pairs_file) << "pear\n";
  VerdictSources sources;
  sources.store = ledger_->verdicts();
  EXPECT_EQ(VerdictEngine(sources, options_).Load().code(),
            absl::StatusCode::kInvalidArgument);
}

// The kernel stays, and from one day on all hosts wait three times as often.
TEST_F(VerdictEngineTest, AKernelThatChangesOverTimeIsSuspect) {
  constexpr int64_t kChange = kFirst + 16;
  const auto waits = [](int host, int64_t day) {
    return Usual(host, day) * (day >= kChange ? 3 : 1);
  };
  Open();
  Feed(kFirst, kChange + 8, waits, kBase);
  Run();
  const StoredVerdict* verdict = Waits();
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->record.kernel_base, kBase);
  EXPECT_EQ(verdict->record.kernel_new, kBase);
  EXPECT_EQ(verdict->record.kind, VerdictKind::kSuspect);
  EXPECT_FALSE(verdict->alerts);
  EXPECT_NEAR(verdict->record.effect.ratio, 3, 0.2);
  EXPECT_THAT(verdict->record.sentence,
              HasSubstr("On 6.12.57 zram write changed about 2024-10-20"));
  EXPECT_TRUE(book_->pairs.empty());
  EXPECT_TRUE(book_->incidents.empty());
  const auto again = engine_->Again(verdict->evaluation);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Serialize(again->records[0]), Serialize(verdict->record));
  // Asked for by name it is the same.
  const auto compared = engine_->Compare({kBase, kBase});
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_EQ(Serialize(compared->verdicts[0]), Serialize(verdict->record));
}

TEST_F(VerdictEngineTest, AKernelThatStaysAsItWasIsNoVerdict) {
  Open();
  Feed(kFirst, kFirst + 30, Usual, kBase);
  Run();
  EXPECT_EQ(Waits(), nullptr);
}

}  // namespace
}  // namespace swaplock
