#include "server/ledger/sqlite_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/ledger/sqlite.h"

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

// Three zram writes of 10, 20 us and 12 ms.
Cell OperationCell(LockModel lock_model) {
  Cell cell;
  cell.key = {Subsystem::kZram,   Operation::kWrite, Role::kUnspecified,
              Mode::kUnspecified, "zram0",           "zstd"};
  cell.lock_model = lock_model;
  cell.latency_tier = Tier::kExact;
  for (const uint64_t ns : {10'000, 20'000, 12'000'000}) cell.latency.Add(ns);
  return cell;
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
    add("host ", id, " ", host.environment.kernel_release, " ",
        host.environment.preempt, " ", host.environment.swap_backend, " ",
        host.environment.memory_bytes, " ", host.last_seen_unix_ns, " ",
        host.windows, " ", host.coverage.fingerprint, " ",
        host.coverage.probes.size(), " ", host.coverage.not_measured.size());
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
        window.cells[0].preempted_ns = 9'000'000;
        window.cells[0].woken_ns = 500'000;
        window.cells[0].throttled_ns = 1'000'000;
        window.cells[0].migrations = seq;
        window.cells.push_back(OperationCell(LockModel::kMutex));
        if (seq == 2) window.cells.push_back(OperationCell(LockModel::kNone));
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
  EXPECT_EQ(loaded.cohorts.rbegin()->second.cells.size(), 4u);
}

TEST(SqliteLedgerTest, AddsUpWhatTheRunnablePartIsMadeOfAndLatencies) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  window.cells.resize(1);
  window.cells[0].preempted_ns = 9'000'000;
  window.cells[0].woken_ns = 500'000;
  window.cells[0].throttled_ns = 1'000'000;
  window.cells[0].migrations = 2;
  window.cells.push_back(OperationCell(LockModel::kMutex));
  CommitOne(ledger.get(), window);
  window.key.seq = 2;
  window.cells[1].lock_model = LockModel::kNone;
  CommitOne(ledger.get(), window);
  window.key.seq = 3;
  CommitOne(ledger.get(), window);
  const FleetState state = LoadState(ledger.get());
  const auto& cells = state.cohorts.begin()->second.cells;
  // With the mutex, without a lock, and the cell of the lock itself.
  ASSERT_EQ(cells.size(), 3u);
  for (const auto& [key, cohort_cell] : cells) {
    const Cell& cell = cohort_cell.cell;
    if (key.latency_tier == Tier::kUnspecified) {
      EXPECT_EQ(cell.preempted_ns, 27'000'000u);
      EXPECT_EQ(cell.woken_ns, 1'500'000u);
      EXPECT_EQ(cell.throttled_ns, 3'000'000u);
      EXPECT_EQ(cell.migrations, 6u);
      EXPECT_EQ(cell.latency.Count(), 0u);
      continue;
    }
    const uint64_t windows = key.lock_model == LockModel::kNone ? 2 : 1;
    EXPECT_EQ(cell.latency_tier, Tier::kExact);
    EXPECT_EQ(cell.latency.Count(), 3 * windows);
    EXPECT_EQ(cell.latency.sum_ns, 12'030'000 * windows);
    EXPECT_EQ(cell.latency.max_ns, 12'000'000u);
    EXPECT_EQ(cell.latency.over_10ms, windows);
  }
}

constexpr int64_t kAllDays = 1'000'000;

HostHistory HistoryOf(Ledger* ledger, const std::string& host) {
  const auto reader = ledger->OpenEvidence();
  EXPECT_TRUE(reader.ok()) << reader.status();
  auto history = (*reader)->Host(host, 0, kAllDays);
  EXPECT_TRUE(history.ok()) << history.status();
  return *std::move(history);
}

// Locks and whole operations are rows of their own.
TEST(SqliteLedgerTest, EvidenceIsOfLocksAndOfWholeOperations) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  window.cells.resize(1);
  window.cells.push_back(OperationCell(LockModel::kMutex));
  CommitOne(ledger.get(), window);
  window.key.seq = 2;
  window.cells[1].lock_model = LockModel::kNone;
  CommitOne(ledger.get(), window);
  const HostHistory history = HistoryOf(ledger.get(), "a");
  ASSERT_EQ(history.cells.size(), 3u);
  for (const HostDayCell& cell : history.cells) {
    EXPECT_EQ(cell.kernel_release, "6.18.15");
    EXPECT_EQ(cell.day, DayOf(kNow));
    EXPECT_EQ(cell.operation, Operation::kWrite);
    if (cell.latency_tier == Tier::kUnspecified) {
      EXPECT_EQ(cell.role, Role::kStream);
      EXPECT_EQ(cell.lock_model, LockModel::kMutex);
      EXPECT_EQ(cell.hold_tier, Tier::kExact);
      EXPECT_EQ(cell.acquisitions, 6u);
      EXPECT_EQ(cell.contended, 2u);
      EXPECT_EQ(cell.waits_over_10ms, 2u);
      EXPECT_EQ(cell.episodes_over_10ms, 2u);  // one a window
      EXPECT_EQ(cell.waits_over_100ms, 0u);
      EXPECT_EQ(cell.runnable_ns, 20'000'000u);
      EXPECT_EQ(cell.longest_hold_ns, 12'000'000u);
      EXPECT_EQ(cell.longest_runnable_ns, 10'000'000u);
      EXPECT_EQ(cell.timed_operations, 0u);
      continue;
    }
    EXPECT_EQ(cell.role, Role::kUnspecified);
    EXPECT_EQ(cell.acquisitions, 0u);
    EXPECT_EQ(cell.timed_operations, 3u);
    EXPECT_EQ(cell.slow_operations, 1u);
  }
}

TEST(SqliteLedgerTest, EvidenceSaysHowMuchOfADayWasMeasured) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  window.start_boottime_ns = 1'000'000'000;
  window.end_boottime_ns = 3'601'000'000'000;
  window.suspended_ns = 1'800'000'000'000;
  window.losses = {{LossReason::kRecursion, 3}, {LossReason::kTopRingFull, 5}};
  CommitOne(ledger.get(), window);
  CommitOne(ledger.get(), window);  // again: adds nothing
  window.key.seq = 2;
  window.suspended_ns = 0;
  CommitOne(ledger.get(), window);
  const HostHistory history = HistoryOf(ledger.get(), "a");
  ASSERT_EQ(history.days.size(), 1u);
  EXPECT_EQ(history.days[0].day, DayOf(kNow));
  EXPECT_DOUBLE_EQ(history.days[0].hours, 1.5);
  EXPECT_EQ(history.days[0].events_lost, 6u);
}

TEST(SqliteLedgerTest, EvidenceHasTheBootsOfAHostAndWhatItIs) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1, "6.12.57");
  window.environment.kernel_build_id = "aa";
  window.environment.cpus = 64;
  window.environment.preempt = "none";
  window.end_boottime_ns =
      window.start_boottime_ns + static_cast<uint64_t>(86'400'000'000'000) * 3;
  window.context.complete = true;
  window.context.facts = {{"kernel/CONFIG_HZ", "250"}, {"cpu/smt", "1"}};
  CommitOne(ledger.get(), window);
  // Names only what changed.
  window.key.seq = 2;
  window.context.complete = false;
  window.context.facts = {{"cpu/smt", "0"}};
  CommitOne(ledger.get(), window);
  // Says nothing of it.
  window.key.seq = 3;
  window.context = Context();
  CommitOne(ledger.get(), window);
  window.key.boot_id = std::string(16, 'b');
  window.environment.kernel_release = "6.18.15";
  window.environment.kernel_build_id = "bb";
  window.environment.preempt = "lazy";
  window.end_boottime_ns = window.start_boottime_ns + 1;
  CommitOne(ledger.get(), window);
  CommitOne(ledger.get(), MakeWindow("b", 1));

  const auto reader = ledger->OpenEvidence();
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->Boots()->size(), 3u);
  const HostHistory history = HistoryOf(ledger.get(), "a");
  ASSERT_EQ(history.boots.size(), 2u);
  for (const HostBoot& boot : history.boots) {
    EXPECT_EQ(boot.last_day, DayOf(kNow));
    const bool old = boot.kernel_release == "6.12.57";
    EXPECT_EQ(boot.kernel_build, old ? "aa" : "bb");
    EXPECT_EQ(boot.day, DayOf(kNow) - (old ? 3 : 0));
    EXPECT_EQ(boot.keys.at("cpus"), "up to 64");
    EXPECT_EQ(boot.keys.at("preempt"), old ? "none" : "lazy");
    EXPECT_EQ(boot.facts.at("host/preempt"), old ? "none" : "lazy");
    EXPECT_EQ(boot.facts.count("kernel/CONFIG_HZ"), old ? 1u : 0u);
    EXPECT_EQ(boot.facts.count("cpu/smt"), old ? 1u : 0u);
    if (old) {
      EXPECT_EQ(boot.facts.at("cpu/smt"), "0");
    }
  }
}

TEST(SqliteLedgerTest, AHoldWhoseEndWasNotSeenIsCensored) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  Hold open;
  open.cell = 0;
  open.hold_ns = open.unknown_ns = 40'000'000;
  window.holds_in_progress = {open, open};
  window.holds_in_progress[1].hold_ns = 2'000'000;  // not long
  const auto censored = [&] {
    uint64_t sum = 0;
    for (const HostDayCell& cell : HistoryOf(ledger.get(), "a").cells) {
      if (cell.censored == 0) continue;
      EXPECT_EQ(cell.operation, Operation::kWrite);
      EXPECT_EQ(cell.role, Role::kStream);
      EXPECT_EQ(cell.hold_tier, Tier::kExact);
      sum += cell.censored;
    }
    return sum;
  };
  CommitOne(ledger.get(), window);
  EXPECT_EQ(censored(), 1u);
  // It went on, then it ended.
  window.key.seq = 2;
  CommitOne(ledger.get(), window);
  EXPECT_EQ(censored(), 1u);
  window.key.seq = 4;
  window.holds_in_progress.clear();
  CommitOne(ledger.get(), window);
  EXPECT_EQ(censored(), 0u);
  // A window that comes late says nothing of now.
  window.key.seq = 3;
  window.holds_in_progress = {open};
  CommitOne(ledger.get(), window);
  EXPECT_EQ(censored(), 0u);
  // The agent ended while it lasted.
  window.key.seq = 5;
  CommitOne(ledger.get(), window);
  window.key.epoch = 2;
  window.key.seq = 1;
  window.holds_in_progress.clear();
  CommitOne(ledger.get(), window);
  EXPECT_EQ(censored(), 1u);
}

TEST(SqliteLedgerTest, EvidenceIsThatOfTheMomentItWasOpened) {
  const auto ledger = OpenLedger(NewDirectory());
  CommitOne(ledger.get(), MakeWindow("a", 1));
  const auto reader = ledger->OpenEvidence();
  ASSERT_TRUE(reader.ok()) << reader.status();
  CommitOne(ledger.get(), MakeWindow("a", 2));
  const auto then = (*reader)->Host("a", 0, kAllDays);
  ASSERT_TRUE(then.ok()) << then.status();
  EXPECT_EQ(then->cells[0].acquisitions, 2u);
  EXPECT_EQ(HistoryOf(ledger.get(), "a").cells[0].acquisitions, 4u);
}

// testdata/ledger_v1.sql was made by the program of version 1, from the windows
// of ARestartLoadsWhatMergingEveryWindowGave.
std::string DirectoryOfVersion1() {
  std::string directory = NewDirectory();
  std::ifstream file("server/ledger/testdata/ledger_v1.sql");
  std::stringstream sql;
  sql << file.rdbuf();
  const auto database =
      Database::Open(directory + "/ledger.db", /*read_only=*/false);
  EXPECT_TRUE(database.ok()) << database.status();
  EXPECT_FALSE(sql.str().empty());
  EXPECT_TRUE((*database)->Execute(sql.str()).ok());
  EXPECT_TRUE((*database)->Execute("PRAGMA user_version = 1").ok());
  return directory;
}

TEST(SqliteLedgerTest, ALedgerOfVersion1KeepsWhatItCounted) {
  const std::string directory = DirectoryOfVersion1();
  std::string migrated;
  {
    const auto ledger = OpenLedger(directory);
    const FleetState state = LoadState(ledger.get());
    migrated = Describe(state);
    EXPECT_EQ(state.windows_merged, 8u);
    EXPECT_EQ(state.windows_duplicate, 2u);
    EXPECT_EQ(state.windows_missing, 6u);
    EXPECT_EQ(state.hosts.size(), 2u);
    EXPECT_EQ(state.top_holds.size(), 6u);
    ASSERT_EQ(state.cohorts.size(), 2u);
    const Cohort& cohort = state.cohorts.at({"6.18.15", "lazy"});
    EXPECT_EQ(cohort.windows, 4u);
    ASSERT_EQ(cohort.cells.size(), 3u);
    const Cell& write = cohort.cells.rbegin()->second.cell;
    EXPECT_EQ(write.key.operation, Operation::kWrite);
    EXPECT_EQ(write.acquisitions, 12u);
    EXPECT_EQ(write.contended, 4u);
    EXPECT_EQ(write.hold.Count(), 12u);
    EXPECT_EQ(write.hold.sum_ns, 52'400'000u);
    EXPECT_EQ(write.runnable.sum_ns, 40'000'000u);
    EXPECT_EQ(write.preempted_ns, 0u);
    EXPECT_EQ(write.latency_tier, Tier::kUnspecified);
    // Of two kernels, one cell with another tier besides.
    const HostHistory history = HistoryOf(ledger.get(), "a");
    ASSERT_EQ(history.cells.size(), 5u);
    uint64_t acquisitions = 0;
    for (const HostDayCell& cell : history.cells) {
      acquisitions += cell.acquisitions;
      EXPECT_EQ(cell.latency_tier, Tier::kUnspecified);
    }
    EXPECT_EQ(acquisitions, 20u);
    // Of which part of the day is not known: no verdict rests on it.
    EXPECT_EQ(history.days.size(), 0u);
  }
  // Opened again it is as it was.
  const auto ledger = OpenLedger(directory);
  EXPECT_EQ(Describe(LoadState(ledger.get())), migrated);
  // What comes now is added to it.
  EXPECT_TRUE(CommitOne(ledger.get(), MakeWindow("a", 7)).duplicate);
  Window window = MakeWindow("a", 8);
  window.cells[0].preempted_ns = 4'000'000;
  window.cells.push_back(OperationCell(LockModel::kMutex));
  CommitOne(ledger.get(), window);
  const FleetState state = LoadState(ledger.get());
  const Cohort& cohort = state.cohorts.at({"6.18.15", "lazy"});
  ASSERT_EQ(cohort.cells.size(), 4u);
  const Cell& operation = std::next(cohort.cells.rbegin())->second.cell;
  EXPECT_EQ(operation.latency.Count(), 3u);
  const Cell& write = cohort.cells.rbegin()->second.cell;
  EXPECT_EQ(write.acquisitions, 15u);
  EXPECT_EQ(write.preempted_ns, 4'000'000u);
}

// All columns of all tables and indices, as text.
std::string SchemaOf(const std::string& directory) {
  auto database = Database::Open(directory + "/ledger.db", /*read_only=*/true);
  EXPECT_TRUE(database.ok()) << database.status();
  Query query = (*database)->Prepare(
      "SELECT t.name, c.name, c.type, c.\"notnull\", c.pk"
      " FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
      " ORDER BY 1, c.cid");
  std::string out;
  for (auto row = query.Step(); row.ok() && *row; row = query.Step()) {
    absl::StrAppend(&out, query.Text(0), ".", query.Text(1), " ", query.Text(2),
                    " ", query.Int(3), query.Int(4), "\n");
  }
  return out;
}

TEST(SqliteLedgerTest, AMigratedLedgerHasTheTablesOfANewOne) {
  const std::string fresh = NewDirectory();
  OpenLedger(fresh);
  const std::string migrated = DirectoryOfVersion1();
  OpenLedger(migrated);
  EXPECT_THAT(SchemaOf(fresh), HasSubstr("host_boots.boot_day INTEGER 10\n"));
  EXPECT_EQ(SchemaOf(migrated), SchemaOf(fresh));
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

Window Merged(uint64_t seq, uint32_t merged) {
  Window window = MakeWindow("a", seq);
  window.merged = merged;
  return window;
}

// Rows of the table of keys.
int64_t RowsOfKeys(const std::string& directory) {
  auto database = Database::Open(directory + "/ledger.db", /*read_only=*/true);
  EXPECT_TRUE(database.ok()) << database.status();
  Query query = (*database)->Prepare("SELECT count(*) FROM windows");
  const auto row = query.Step();
  return row.ok() && *row ? query.Int(0) : -1;
}

TEST(SqliteLedgerTest, KeysThatMeetTakeOneRow) {
  const std::string directory = NewDirectory();
  const auto ledger = OpenLedger(directory);
  for (uint64_t seq = 1; seq <= 100; ++seq) {
    EXPECT_FALSE(CommitOne(ledger.get(), MakeWindow("a", seq)).duplicate);
  }
  EXPECT_EQ(RowsOfKeys(directory), 1);
  // Every second number, then those in between.
  for (const uint64_t first : {102, 101}) {
    for (uint64_t seq = first; seq <= 120; seq += 2) {
      EXPECT_FALSE(CommitOne(ledger.get(), MakeWindow("a", seq)).duplicate);
    }
    EXPECT_EQ(RowsOfKeys(directory), first == 102 ? 11 : 1);
  }
  for (uint64_t seq = 1; seq <= 120; ++seq) {
    EXPECT_TRUE(CommitOne(ledger.get(), MakeWindow("a", seq)).duplicate);
  }
  EXPECT_FALSE(CommitOne(ledger.get(), MakeWindow("a", 121)).duplicate);
  CommitOne(ledger.get(), MakeWindow("b", 1));
  EXPECT_EQ(RowsOfKeys(directory), 2);
}

TEST(SqliteLedgerTest, AMergedWindowStandsForAllItsNumbers) {
  const std::string directory = NewDirectory();
  for (int opened = 0; opened < 2; ++opened) {
    const auto ledger = OpenLedger(directory);
    EXPECT_EQ(CommitOne(ledger.get(), Merged(6, 4)).duplicate, opened > 0);
    for (const uint64_t seq : {3, 4, 5, 6}) {
      EXPECT_TRUE(CommitOne(ledger.get(), MakeWindow("a", seq)).duplicate);
    }
    EXPECT_EQ(CommitOne(ledger.get(), MakeWindow("a", 2)).duplicate,
              opened > 0);
    EXPECT_EQ(CommitOne(ledger.get(), MakeWindow("a", 7)).duplicate,
              opened > 0);
    // Inside, equal, and over several rows.
    for (const auto& [seq, merged] :
         {std::make_pair(5, 2), std::make_pair(6, 4), std::make_pair(7, 6)}) {
      EXPECT_TRUE(CommitOne(ledger.get(), Merged(seq, merged)).duplicate);
    }
    // Another epoch's are others.
    Window other = Merged(6, 4);
    other.key.epoch = 2;
    EXPECT_EQ(CommitOne(ledger.get(), other).duplicate, opened > 0);
    EXPECT_EQ(LoadState(ledger.get()).windows_merged, 4u);
  }
}

TEST(SqliteLedgerTest, OfAMergedWindowThatIsKnownInPartNothingIsAdded) {
  const auto ledger = OpenLedger(NewDirectory());
  CommitOne(ledger.get(), MakeWindow("a", 2));
  CommitOne(ledger.get(), Merged(8, 3));
  const std::string before = Describe(LoadState(ledger.get()));
  for (const auto& [seq, merged] :
       {std::make_pair(4, 3), std::make_pair(10, 3), std::make_pair(6, 6),
        std::make_pair(6, 2), std::make_pair(20, 4'000'000)}) {
    SCOPED_TRACE(seq);
    EXPECT_TRUE(
        CommitOne(ledger.get(), Merged(seq, static_cast<uint32_t>(merged)))
            .duplicate);
  }
  FleetState state = LoadState(ledger.get());
  state.windows_duplicate = 0;
  EXPECT_EQ(Describe(state), before);
  // What fits between is added.
  EXPECT_FALSE(CommitOne(ledger.get(), Merged(5, 3)).duplicate);
}

TEST(SqliteLedgerTest, EvidenceIsByDayWithDevicesMerged) {
  const auto ledger = OpenLedger(NewDirectory());
  Window window = MakeWindow("a", 1);
  window.cells.push_back(window.cells[0]);
  window.cells.back().key.device = "zram1";
  CommitOne(ledger.get(), window);
  Window day_before = MakeWindow("a", 2);
  day_before.end_unix_ns -= 86'400'000'000'000;
  CommitOne(ledger.get(), day_before);
  const HostHistory history = HistoryOf(ledger.get(), "a");
  EXPECT_EQ(history.days.size(), 2u);
  ASSERT_EQ(history.cells.size(), 4u);
  for (const HostDayCell& cell : history.cells) {
    const bool write = cell.operation == Operation::kWrite;
    const bool today = cell.day == DayOf(kNow);
    EXPECT_EQ(cell.acquisitions, (write ? 3u : 2u) * (write && today ? 2 : 1));
    EXPECT_EQ(cell.contended, write ? (today ? 2u : 1u) : 0u);
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

// Hosts cannot fill the ledger with holds that are all as long.
TEST(SqliteLedgerTest, OfEquallyLongHoldsTheFirstAreKept) {
  const std::string directory = NewDirectory();
  auto ledger = OpenLedger(directory);
  for (uint64_t seq = 1; seq <= kTopHoldsPerDay + 10; ++seq) {
    CommitOne(ledger.get(), MakeWindow("a", seq));
  }
  const FleetState state = LoadState(ledger.get());
  ASSERT_EQ(state.top_holds.size(), kTopHoldsPerDay);
  EXPECT_EQ(state.top_holds.back().end_unix_ns,
            kTestUnixNs + kTopHoldsPerDay * kTestWindowNs);
  ledger.reset();
  auto database = Database::Open(directory + "/ledger.db", /*read_only=*/true);
  ASSERT_TRUE(database.ok());
  Query count = (*database)->Prepare("SELECT count(*) FROM top_holds");
  ASSERT_TRUE(count.Step().ok());
  EXPECT_EQ(count.Unsigned(0), kTopHoldsPerDay);
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
                        "up to 5"));
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
