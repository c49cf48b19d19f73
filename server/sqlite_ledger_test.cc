#include "server/sqlite_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixNanos(kTestUnixNs) + absl::Minutes(30);

std::string NewDirectory() {
  std::string path = ::testing::TempDir() + "/ledger-XXXXXX";
  return mkdtemp(path.data());
}

std::unique_ptr<SqliteLedger> OpenLedger(const std::string& directory) {
  auto ledger = SqliteLedger::Open(directory);
  EXPECT_TRUE(ledger.ok()) << ledger.status();
  return *std::move(ledger);
}

Outcome CommitOne(Ledger* ledger, const Window& window) {
  const auto outcomes = ledger->Commit({window}, kNow);
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  return outcomes.ok() ? (*outcomes)[0] : Outcome();
}

FleetState LoadState(Ledger* ledger) {
  auto state = ledger->Load(kNow);
  EXPECT_TRUE(state.ok()) << state.status();
  return *std::move(state);
}

// Everything a restart must not change, as text.
std::string Describe(const FleetState& state) {
  std::string out;
  const auto add = [&out](const auto&... parts) {
    absl::StrAppend(&out, parts..., "\n");
  };
  add("windows ", state.windows_merged, " ", state.windows_duplicate, " ",
      state.windows_missing, " cpu ", state.agent_cpu_ns);
  for (const auto& [reason, events] : state.losses) {
    add("lost ", Name(reason), " ", events);
  }
  for (const auto& [id, host] : state.hosts) {
    add("host ", id, " ", host.kernel_release, " ", host.preempt, " ",
        host.last_seen_unix_ns, " ", host.windows, " ",
        host.coverage.fingerprint, " ", host.coverage.probes.size(), " ",
        host.coverage.not_measured.size());
  }
  for (const auto& [key, cohort] : state.cohorts) {
    add("cohort ", key.kernel_release, " ", key.preempt, " ", cohort.windows);
    for (const auto& [cell_key, cell] : cohort.cells) {
      add("cell ", ToProto(cell.cell).ShortDebugString());
      for (const auto& [hour, longest] : cell.longest_by_hour) {
        add("longest ", hour, " ", longest.wait_ns, " ", longest.hold_ns, " ",
            longest.hold_runnable_ns.value_or(0),
            longest.hold_runnable_ns.has_value());
      }
    }
  }
  for (const TopHold& top : state.top_holds) {
    add("top ", top.host_id, " ", top.kernel_release, " ", top.end_unix_ns, " ",
        ToProto(top.key).ShortDebugString(), " ",
        ToProto(top.hold).ShortDebugString());
  }
  return out;
}

TEST(SqliteLedgerTest, ADuplicateAddsNothing) {
  const auto ledger = OpenLedger(NewDirectory());
  EXPECT_FALSE(CommitOne(ledger.get(), MakeWindow("a", 1)).duplicate);
  const FleetState once = LoadState(ledger.get());
  EXPECT_TRUE(CommitOne(ledger.get(), MakeWindow("a", 1)).duplicate);
  FleetState twice = LoadState(ledger.get());
  EXPECT_EQ(twice.windows_duplicate, 1u);
  twice.windows_duplicate = 0;
  EXPECT_EQ(Describe(twice), Describe(once));
}

TEST(SqliteLedgerTest, ADuplicateWithinOneBatchAddsNothing) {
  const auto ledger = OpenLedger(NewDirectory());
  const auto outcomes = ledger->Commit(
      {MakeWindow("a", 1), MakeWindow("a", 1), MakeWindow("b", 1)}, kNow);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_FALSE((*outcomes)[0].duplicate);
  EXPECT_TRUE((*outcomes)[1].duplicate);
  EXPECT_FALSE((*outcomes)[2].duplicate);
  const FleetState state = LoadState(ledger.get());
  EXPECT_EQ(state.windows_merged, 2u);
  EXPECT_EQ(state.cohorts.begin()->second.windows, 2u);
}

TEST(SqliteLedgerTest, KeysDifferByHostBootEpochAndSeq) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  EXPECT_FALSE(CommitOne(ledger.get(), window).duplicate);
  window.key.epoch = 2;
  EXPECT_FALSE(CommitOne(ledger.get(), window).duplicate);
  window.key.boot_id = std::string(16, '\0');
  EXPECT_FALSE(CommitOne(ledger.get(), window).duplicate);
  window.key.host_id = "b";
  EXPECT_FALSE(CommitOne(ledger.get(), window).duplicate);
  EXPECT_TRUE(CommitOne(ledger.get(), window).duplicate);
}

// The ledger's sums and the fold in memory are two ways to the same state.
TEST(SqliteLedgerTest, ARestartLoadsWhatMergingEveryWindowGave) {
  const std::string directory = NewDirectory();
  FleetState merged;
  {
    const auto ledger = OpenLedger(directory);
    for (uint64_t seq : {1, 2, 3, 2, 7}) {
      for (const char* host : {"a", "b"}) {
        Window window = MakeWindow(host, seq, seq < 3 ? "6.12.57" : "6.18.15");
        // Another tier of the same cell must stay apart.
        if (seq == 3) window.cells[1].hold_tier = Tier::kBracket;
        if (seq == 7) window.top_holds.clear();
        const Outcome outcome = CommitOne(ledger.get(), window);
        Merge(window, outcome, kNow, &merged);
      }
    }
  }
  const auto ledger = OpenLedger(directory);
  const FleetState loaded = LoadState(ledger.get());
  EXPECT_EQ(Describe(loaded), Describe(merged));
  EXPECT_EQ(loaded.windows_merged, 8u);
  EXPECT_EQ(loaded.windows_duplicate, 2u);
  EXPECT_EQ(loaded.windows_missing, 6u);
  EXPECT_EQ(loaded.losses.at(LossReason::kRecursion), 8u);
  EXPECT_EQ(loaded.cohorts.size(), 2u);
  EXPECT_EQ(loaded.cohorts.rbegin()->second.cells.size(), 3u);
}

TEST(SqliteLedgerTest, AGapIsCountedOnceAndAMergedWindowFillsIt) {
  const auto ledger = OpenLedger(NewDirectory());
  EXPECT_EQ(CommitOne(ledger.get(), MakeWindow("a", 3)).missing, 2u);
  EXPECT_EQ(CommitOne(ledger.get(), MakeWindow("a", 4)).missing, 0u);
  EXPECT_EQ(CommitOne(ledger.get(), MakeWindow("a", 2)).missing, 0u);
  Window merged = MakeWindow("a", 9);
  merged.merged = 5;
  EXPECT_EQ(CommitOne(ledger.get(), merged).missing, 0u);
  merged.key.seq = 12;
  merged.merged = 2;
  EXPECT_EQ(CommitOne(ledger.get(), merged).missing, 1u);
}

TEST(SqliteLedgerTest, EvidenceIsSummedOverDaysAndDevices) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  window.cells.push_back(window.cells[0]);
  window.cells.back().key.device = "zram1";
  CommitOne(ledger.get(), window);
  Window next_day = MakeWindow("a", 2);
  next_day.end_unix_ns -= 86'400'000'000'000;
  CommitOne(ledger.get(), next_day);
  const auto cells = ledger->HostCells();
  ASSERT_TRUE(cells.ok()) << cells.status();
  ASSERT_EQ(cells->size(), 2u);
  for (const HostCell& cell : *cells) {
    EXPECT_EQ(cell.host_id, "a");
    EXPECT_EQ(cell.kernel_release, "6.18.15");
    const bool write = cell.key.operation == Operation::kWrite;
    EXPECT_EQ(cell.acquisitions, write ? 9u : 4u);
    EXPECT_EQ(cell.contended, write ? 3u : 0u);
    EXPECT_EQ(cell.waits_over_10ms, write ? 3u : 0u);
  }
}

TEST(SqliteLedgerTest, ClocksThatAreWrongCountAsNow) {
  Window window = MakeWindow("a", 1);
  EXPECT_EQ(CountedAt(window, kNow), absl::FromUnixNanos(window.end_unix_ns));
  for (const uint64_t wrong :
       {uint64_t{0}, kTestUnixNs * 2, ~uint64_t{0},
        kTestUnixNs - 31 * uint64_t{86'400'000'000'000}}) {
    window.end_unix_ns = wrong;
    EXPECT_EQ(CountedAt(window, kNow), kNow) << wrong;
  }
}

TEST(SqliteLedgerTest, KeepsTheLongestHoldsOfADay) {
  const std::string directory = NewDirectory();
  const auto ledger = OpenLedger(directory);
  for (uint64_t seq = 1; seq <= 60; ++seq) {
    Window window = MakeWindow("a", seq);
    window.top_holds[0].hold_ns = window.top_holds[0].on_cpu_ns = seq * 1000;
    window.top_holds[0].runnable_ns = 0;
    CommitOne(ledger.get(), window);
  }
  const FleetState state = LoadState(ledger.get());
  ASSERT_EQ(state.top_holds.size(), kTopHoldsPerDay);
  EXPECT_EQ(state.top_holds.front().hold.hold_ns, 60'000u);
  EXPECT_EQ(state.top_holds.back().hold.hold_ns, 11'000u);
}

TEST(SqliteLedgerTest, RefusesANewerSchemaInOneSentence) {
  const std::string directory = NewDirectory();
  OpenLedger(directory);
  {
    auto database =
        Database::Open(directory + "/ledger.db", /*read_only=*/false);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 99").ok());
  }
  const auto ledger = SqliteLedger::Open(directory);
  EXPECT_EQ(ledger.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ledger.status().message()),
              HasSubstr("has schema version 99, this program knows versions "
                        "up to 1"));
}

TEST(SqliteLedgerTest, RefusesASecondServerOnTheDirectory) {
  const std::string directory = NewDirectory();
  auto first = OpenLedger(directory);
  EXPECT_THAT(std::string(SqliteLedger::Open(directory).status().message()),
              HasSubstr("another swaplock-server runs on " + directory));
  first.reset();
  EXPECT_TRUE(SqliteLedger::Open(directory).ok());
}

TEST(SqliteLedgerTest, RefusesAFileThatIsNoDatabase) {
  const std::string directory = NewDirectory();
  std::ofstream(directory + "/ledger.db") << std::string(5000, 'x');
  EXPECT_EQ(SqliteLedger::Open(directory).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(SqliteLedgerTest, RefusesADirectoryThatCannotBe) {
  EXPECT_EQ(SqliteLedger::Open("/dev/null").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(SqliteLedger::Open(NewDirectory() + "/no/such").ok());
}

}  // namespace
}  // namespace swaplock
