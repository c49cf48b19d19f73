// The ledger on a disk that fails: at each of its writes and syncs, in each
// way, and when the process ends there. What was acknowledged is there
// afterwards, once, and the file is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing.h"
#include "server/ledger/faulty_vfs.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/ledger/sqlite_upkeep.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixNanos(kTestUnixNs) + absl::Minutes(30);

std::string NewDirectory() {
  std::string path = ::testing::TempDir() + "/faults-XXXXXX";
  return mkdtemp(path.data());
}

std::unique_ptr<SqliteLedger> OpenLedger(const std::string& directory) {
  auto ledger = SqliteLedger::Open(directory);
  EXPECT_TRUE(ledger.ok()) << ledger.status();
  return ledger.ok() ? *std::move(ledger) : nullptr;
}

uint64_t MergedIn(SqliteLedger* ledger) {
  const auto state = ledger->Load(kNow);
  EXPECT_TRUE(state.ok()) << state.status();
  // Its numbers must agree with its count of windows.
  uint64_t acquisitions = 0;
  for (const auto& [key, cohort] : state->cohorts) {
    for (const auto& [cell_key, cell] : cohort.cells) {
      acquisitions += cell.cell.acquisitions;
    }
  }
  EXPECT_EQ(acquisitions, 5 * state->windows_merged);
  return state->windows_merged;
}

class LedgerFaultsTest : public ::testing::Test {
 protected:
  LedgerFaultsTest() { SetFaultPlan({}); }
  ~LedgerFaultsTest() override { SetFaultPlan({}); }
};

// One window after the other, one fault at operation `at`; false when the
// commits have no such operation any more.
bool RunWithFault(const FaultPlan& plan) {
  const std::string directory = NewDirectory();
  auto ledger = OpenLedger(directory);
  EXPECT_TRUE(ledger->Commit({MakeWindow("a", 1)}, kNow).ok());
  SetFaultPlan(plan);
  uint64_t failed = 0;
  for (uint64_t seq = 2; seq <= 4; ++seq) {
    auto outcome = ledger->Commit({MakeWindow("a", seq)}, kNow);
    if (outcome.ok()) continue;
    ++failed;
    EXPECT_TRUE(absl::IsUnavailable(outcome.status())) << outcome.status();
    SetFaultPlan({});  // there is space again
    outcome = ledger->Commit({MakeWindow("a", seq)}, kNow);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
  }
  const bool reached = failed > 0 || FaultCount() >= plan.at;
  SetFaultPlan({});
  EXPECT_EQ(MergedIn(ledger.get()), 4u);
  ledger.reset();
  ledger = OpenLedger(directory);  // which checks the file
  EXPECT_EQ(MergedIn(ledger.get()), 4u);
  return reached;
}

TEST_F(LedgerFaultsTest, AfterAnyFailedOperationTheSameWindowIsTakenOnce) {
  int first = 0;
  for (const int error : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    for (const bool stays : {false, true}) {
      // The four meet two of three operations.
      int at = 1 + first++;
      while (RunWithFault({at, error, stays, false})) {
        if (HasFailure()) FAIL() << "error " << error << " at " << at;
        at += 6;
        ASSERT_LT(at, 2000);
      }
      EXPECT_GT(at, 10) << "faults were hit";
    }
  }
}

TEST_F(LedgerFaultsTest, AfterAnyFailedSyncTheSameWindowIsTakenOnce) {
  int at = 1;
  while (RunWithFault({at, SQLITE_IOERR_FSYNC, false, true})) {
    ASSERT_FALSE(HasFailure()) << "sync " << at;
    ++at;
  }
  EXPECT_GT(at, 2);
}

// kill -9 at each operation: what the child reported as committed is there.
TEST_F(LedgerFaultsTest, AProcessThatEndsAnywhereLosesNothingAcknowledged) {
  int at = 1;
  bool ended_by_fault = true;
  while (ended_by_fault) {
    SCOPED_TRACE(at);
    const std::string directory = NewDirectory();
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto ledger = SqliteLedger::Open(directory);
      if (!ledger.ok()) _exit(1);
      SetFaultPlan({at, 0, false, false});
      for (uint64_t seq = 1; seq <= 3; ++seq) {
        if (!(*ledger)->Commit({MakeWindow("a", seq)}, kNow).ok()) _exit(1);
        if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
      }
      ledger->reset();  // the last checkpoint
      _exit(0);
    }
    close(pipe_ends[1]);
    uint64_t acknowledged = 0;
    char byte = 0;
    while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    close(pipe_ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ended_by_fault = WEXITSTATUS(status) == 9;
    ASSERT_TRUE(ended_by_fault || WEXITSTATUS(status) == 0);

    const auto ledger = OpenLedger(directory);
    const uint64_t there = MergedIn(ledger.get());
    EXPECT_GE(there, acknowledged);
    EXPECT_LE(there, acknowledged + 1);
    // The agent sends them all again.
    for (uint64_t seq = 1; seq <= 3; ++seq) {
      EXPECT_TRUE(ledger->Commit({MakeWindow("a", seq)}, kNow).ok());
    }
    EXPECT_EQ(MergedIn(ledger.get()), 3u);
    at += at < 12 ? 1 : 5;
    ASSERT_LT(at, 2000);
  }
  EXPECT_GT(at, 10);
}

std::string Contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

void Overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(LedgerFaultsTest, ADamagedFileIsRefusedOrSetAsideNeverUsedInSilence) {
  const std::string directory = NewDirectory();
  const std::string path = directory + "/ledger.db";
  {
    const auto ledger = OpenLedger(directory);
    for (uint64_t seq = 1; seq <= 20; ++seq) {
      ASSERT_TRUE(ledger->Commit({MakeWindow("a", seq)}, kNow).ok());
    }
  }
  const std::string good = Contents(path);
  ASSERT_GT(good.size(), 8192u);
  std::string flipped = good;
  for (size_t page = 4096; page < flipped.size(); page += 4096) {
    flipped[page] ^= 0x55;  // the kind of each page but the first
  }
  std::string no_header = good;
  no_header[0] = 'x';
  for (const std::string& bad :
       {flipped, no_header, good.substr(0, good.size() / 2),
        good.substr(0, 1000)}) {
    Overwrite(path, bad);
    const auto ledger = SqliteLedger::Open(directory);
    ASSERT_FALSE(ledger.ok());
    EXPECT_TRUE(absl::IsDataLoss(ledger.status())) << ledger.status();
    EXPECT_THAT(ledger.status().ToString(), HasSubstr("--set_aside_damaged"));
    EXPECT_EQ(Contents(path), bad) << "the file is left as it was";
  }
  auto anew = SqliteLedger::OpenAnew(directory);
  ASSERT_TRUE(anew.ok()) << anew.status();
  EXPECT_EQ(MergedIn(anew->get()), 0u);
  anew->reset();
  // A good file is not touched by that flag.
  Overwrite(path, good);
  anew = SqliteLedger::OpenAnew(directory);
  ASSERT_TRUE(anew.ok()) << anew.status();
  EXPECT_EQ(MergedIn(anew->get()), 20u);
}

TEST_F(LedgerFaultsTest, ABackupIsWholeAndTakenWhileTheServerWrites) {
  const std::string directory = NewDirectory();
  const auto ledger = OpenLedger(directory);
  for (uint64_t seq = 1; seq <= 10; ++seq) {
    ASSERT_TRUE(ledger->Commit({MakeWindow("a", seq)}, kNow).ok());
  }
  const std::string restored = NewDirectory();
  const std::string target = restored + "/ledger.db";
  const absl::Status status = BackUp(directory, target);
  ASSERT_TRUE(status.ok()) << status;
  struct stat entry = {};
  ASSERT_EQ(stat(target.c_str(), &entry), 0);
  EXPECT_EQ(entry.st_mode & 0777, 0600u) << "for its owner only";
  ASSERT_TRUE(ledger->Commit({MakeWindow("a", 11)}, kNow).ok());
  EXPECT_EQ(MergedIn(OpenLedger(restored).get()), 10u);
  EXPECT_EQ(MergedIn(ledger.get()), 11u);
  EXPECT_FALSE(BackUp(directory, target).ok()) << "it is there already";
  EXPECT_FALSE(BackUp(NewDirectory(), target + "2").ok()) << "nothing to copy";
}

TEST_F(LedgerFaultsTest, WhatIsOldIsRemovedAndKeysAreNot) {
  const std::string directory = NewDirectory();
  const auto at = [](uint64_t seq, int64_t days) {
    Window window = MakeWindow("a", seq);
    window.end_unix_ns +=
        static_cast<uint64_t>(absl::ToInt64Nanoseconds(days * absl::Hours(24)));
    return window;
  };
  {
    const auto ledger = OpenLedger(directory);
    ASSERT_TRUE(ledger->Commit({at(1, 0)}, kNow).ok());
    ASSERT_TRUE(ledger->Commit({at(2, 89)}, kNow + 89 * absl::Hours(24)).ok());
  }
  {
    const auto ledger = OpenLedger(directory);
    const auto reader = ledger->OpenEvidence();
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->Host("a", 0, 1'000'000)->cells.size(), 4u);
    ASSERT_TRUE(ledger->Commit({at(3, 95)}, kNow + 95 * absl::Hours(24)).ok());
  }
  const auto ledger = OpenLedger(directory);
  auto database = Database::Open(directory + "/ledger.db", true);
  ASSERT_TRUE(database.ok());
  Query days =
      (*database)->Prepare("SELECT count(DISTINCT day) FROM host_days");
  ASSERT_TRUE(days.Step().ok());
  EXPECT_EQ(days.Int(0), 2);
  EXPECT_TRUE((*ledger->Commit({at(1, 0)}, kNow))[0].duplicate);
  EXPECT_EQ(MergedIn(ledger.get()), 3u) << "cohorts keep what they counted";
}

}  // namespace
}  // namespace swaplock
