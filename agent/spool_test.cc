#include "agent/spool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// Few bytes, for tests that try each of them.
Window SmallWindow(uint64_t seq) {
  Window window;
  window.key = {"a", std::string(16, 'b'), 1, seq};
  window.end_boottime_ns = 1;
  return window;
}

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/spool.XXXXXX");
    options_.folder = absl::StrCat(mkdtemp(pattern.data()), "/state");
  }

  // Closes the spool, as a crash would, and opens it again.
  void Reopen() {
    spool_.reset();
    absl::StatusOr<std::unique_ptr<Spool>> spool = Spool::Open(options_);
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_ = *std::move(spool);
  }

  void Append(uint64_t seq) {
    const absl::Status status = spool_->Append(MakeWindow("host-a", seq));
    ASSERT_TRUE(status.ok()) << status;
  }

  void AcknowledgeOldest() {
    const absl::StatusOr<Window> window = spool_->Oldest();
    ASSERT_TRUE(window.ok()) << window.status();
    spool_->Acknowledge(window->key);
  }

  // Sends everything to a server that knows keys: it counts a window it has
  // seen once.
  void Drain(std::map<WindowKey, uint64_t>* server) {
    while (true) {
      const absl::StatusOr<Window> window = spool_->Oldest();
      if (absl::IsNotFound(window.status())) return;
      ASSERT_TRUE(window.ok()) << window.status();
      server->emplace(window->key, window->cells[0].acquisitions);
      spool_->Acknowledge(window->key);
    }
  }

  std::vector<uint64_t> DrainSeqs() {
    std::vector<uint64_t> seqs;
    for (absl::StatusOr<Window> window = spool_->Oldest(); window.ok();
         window = spool_->Oldest()) {
      seqs.push_back(window->key.seq);
      spool_->Acknowledge(window->key);
    }
    return seqs;
  }

  std::string Path() const { return absl::StrCat(options_.folder, "/spool"); }
  std::string Bytes() const {
    std::ostringstream bytes;
    bytes << std::ifstream(Path(), std::ios::binary).rdbuf();
    return bytes.str();
  }
  void SetBytes(absl::string_view bytes) const {
    std::ofstream(Path(), std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  Spool::Options options_;
  std::unique_ptr<Spool> spool_;
};

uint64_t Total(const std::map<WindowKey, uint64_t>& server) {
  uint64_t total = 0;
  for (const auto& [key, acquisitions] : server) total += acquisitions;
  return total;
}

TEST_F(SpoolTest, OnlyAnAcknowledgementDeletes) {
  Reopen();
  for (uint64_t seq = 1; seq <= 4; ++seq) Append(seq);
  AcknowledgeOldest();
  ASSERT_TRUE(spool_->Oldest().ok());
  Reopen();
  EXPECT_EQ(spool_->stats().recovered, 3u);
  EXPECT_EQ(spool_->stats().damaged, 0u);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{2, 3, 4}));
  Reopen();
  EXPECT_TRUE(spool_->Empty());
}

TEST_F(SpoolTest, WindowsComeBackUnchanged) {
  Reopen();
  Append(7);
  Reopen();
  EXPECT_EQ(Serialize(*spool_->Oldest()), Serialize(MakeWindow("host-a", 7)));
}

TEST_F(SpoolTest, FileShrinksWhenAllIsAcknowledged) {
  Reopen();
  const size_t empty = Bytes().size();
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(seq);
  DrainSeqs();
  EXPECT_EQ(Bytes().size(), empty);
}

TEST_F(SpoolTest, SameWindowTwiceIsKeptOnce) {
  Reopen();
  Append(1);
  Append(1);
  EXPECT_EQ(spool_->stats().pending, 1u);
}

TEST_F(SpoolTest, TornAtEveryByteKeepsTheWholeRecords) {
  Reopen();
  ASSERT_TRUE(spool_->Append(SmallWindow(1)).ok());
  const size_t whole = Bytes().size();
  ASSERT_TRUE(spool_->Append(SmallWindow(2)).ok());
  const std::string all = Bytes();
  for (size_t size = 0; size < all.size(); ++size) {
    SCOPED_TRACE(size);
    spool_.reset();
    SetBytes(all.substr(0, size));
    Reopen();
    ASSERT_TRUE(spool_->Append(SmallWindow(3)).ok());
    Reopen();
    ASSERT_EQ(DrainSeqs(), size < whole ? (std::vector<uint64_t>{3})
                                        : (std::vector<uint64_t>{1, 3}));
  }
}

TEST_F(SpoolTest, DamagedRecordInTheMiddleIsLeftOutAndCounted) {
  Reopen();
  Append(1);
  const size_t first_end = Bytes().size();
  Append(2);
  Append(3);
  spool_.reset();
  std::string bytes = Bytes();
  bytes[first_end + 40] = static_cast<char>(bytes[first_end + 40] ^ 4);
  SetBytes(bytes);
  Reopen();
  EXPECT_EQ(spool_->stats().damaged, 1u);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{1, 3}));
}

TEST_F(SpoolTest, ForeignFileIsMovedAside) {
  Reopen();
  spool_.reset();
  SetBytes("#!/bin/sh\nexit 0\n");
  Reopen();
  EXPECT_EQ(spool_->stats().damaged, 1u);
  Append(1);
  Reopen();
  EXPECT_EQ(DrainSeqs(), std::vector<uint64_t>{1});
  EXPECT_TRUE(std::ifstream(Path() + ".damaged").good());
}

TEST_F(SpoolTest, SecondUserOfTheFolderIsRefused) {
  Reopen();
  EXPECT_TRUE(absl::IsFailedPrecondition(Spool::Open(options_).status()));
}

TEST_F(SpoolTest, FullSpoolMergesTheOldestAndLosesNoCount) {
  options_.max_bytes = 16 << 10;
  Reopen();
  constexpr uint64_t kWindows = 200;
  for (uint64_t seq = 1; seq <= kWindows; ++seq) {
    Append(seq);
    ASSERT_LE(Bytes().size(), options_.max_bytes);
  }
  EXPECT_GT(spool_->stats().merged, 0u);
  EXPECT_LE(spool_->stats().pending_bytes, options_.max_bytes / 2);
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3 * kWindows);
  EXPECT_LT(server.size(), kWindows);
}

// The first window may be on its way: the server may have counted it.
TEST_F(SpoolTest, MergingLeavesTheWindowInFlightAlone) {
  options_.max_bytes = 16 << 10;
  Reopen();
  Append(1);
  const Window in_flight = *spool_->Oldest();
  for (uint64_t seq = 2; seq <= 100; ++seq) Append(seq);
  EXPECT_EQ(spool_->Oldest()->key, in_flight.key);
  EXPECT_EQ(spool_->Oldest()->merged, 0u);
}

TEST_F(SpoolTest, MergingLeavesWindowsInDoubtAloneAlsoAfterARestart) {
  options_.max_bytes = 16 << 10;
  Reopen();
  Append(1);
  ASSERT_TRUE(spool_->AppendInDoubt(MakeWindow("host-a", 2)).ok());
  Reopen();
  for (uint64_t seq = 3; seq <= 100; ++seq) Append(seq);
  AcknowledgeOldest();
  EXPECT_EQ(spool_->Oldest()->key.seq, 2u);
  EXPECT_EQ(spool_->Oldest()->merged, 0u);
}

// A crash may leave any beginning of what Append() wrote: the file with the
// merged window but without the marks on the two in it.
TEST_F(SpoolTest, CrashBetweenMergeAndMarksCountsNothingTwice) {
  options_.max_bytes = 16 << 10;
  Reopen();
  uint64_t seq = 0;
  std::string before;
  while (spool_->stats().merged == 0) {
    before = Bytes();
    Append(++seq);
  }
  // The states as they were, then all that was written since.
  const std::string after = Bytes();
  ASSERT_GT(after.size(), before.size());
  spool_.reset();
  SetBytes(before + after.substr(before.size()));
  Reopen();
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3 * seq);
}

// A merged window is old, but its record is the newest: its turn must not
// change over a restart, or a window that was sent could be merged again.
TEST_F(SpoolTest, OrderSurvivesARestartAfterMerging) {
  options_.max_bytes = 16 << 10;
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  AcknowledgeOldest();
  const WindowKey oldest = spool_->Oldest()->key;
  EXPECT_GT(spool_->Oldest()->merged, 1u);
  Reopen();
  EXPECT_EQ(spool_->Oldest()->key, oldest);
}

TEST_F(SpoolTest, WindowMergedAwayIsStillKnown) {
  options_.max_bytes = 16 << 10;
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  Append(2);  // lies inside a merged one
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3u * 60);
}

TEST_F(SpoolTest, FullOfWindowsThatMayNotMergeRefusesAndCounts) {
  options_.max_bytes = 16 << 10;
  Reopen();
  absl::Status status;
  uint64_t kept = 0;
  for (uint64_t seq = 1; seq < 100 && status.ok(); seq += 2) {
    status = spool_->Append(MakeWindow("host-a", seq));  // never neighbours
    if (status.ok()) ++kept;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(spool_->stats().refused, 1u);
  EXPECT_EQ(DrainSeqs().size(), kept);
}

TEST_F(SpoolTest, WithoutAFolderItWorksInMemory) {
  options_.folder.clear();
  options_.max_bytes = 16 << 10;
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3u * 60);
}

// The limit on file sizes stands in for a disk that is full.
TEST_F(SpoolTest, GoesOnInMemoryWhileTheDiskRefusesAndHealsByItself) {
  signal(SIGXFSZ, SIG_IGN);
  Reopen();
  Append(1);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {Bytes().size() + 100, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Append(2);
  Append(3);
  EXPECT_EQ(spool_->stats().only_in_memory, 2u);
  EXPECT_EQ(spool_->stats().pending, 3u);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  Append(4);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  Reopen();
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace swaplock
