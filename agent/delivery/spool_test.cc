#include "agent/delivery/spool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/delivery/faulty_disk.h"
#include "common/testing.h"

namespace swaplock {
namespace {

constexpr uint64_t kServer = 7;
// Some dozen windows of MakeWindow().
constexpr uint64_t kSmallBytes = 24 << 10;

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/spool.XXXXXX");
    options_.folder = absl::StrCat(mkdtemp(pattern.data()), "/state");
    options_.max_bytes = 1 << 20;
  }

  // Closes the spool, as a crash would, and opens it again.
  void Reopen() {
    spool_.reset();
    absl::StatusOr<std::unique_ptr<Spool>> spool = Spool::Open(options_);
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_ = *std::move(spool);
  }

  // For tests that fill the spool: a small disk, and a fast one.
  void UseMemoryDisk() {
    options_.max_bytes = kSmallBytes;
    options_.open_disk = platter_.Opener();
  }

  void Append(uint64_t seq) {
    const absl::Status status = spool_->Append(MakeWindow("host-a", seq));
    ASSERT_TRUE(status.ok()) << status;
  }

  absl::StatusOr<Spool::Parcel> Next() {
    return spool_->NextToSend("host-a", kServer);
  }
  void AcknowledgeNext() {
    const absl::StatusOr<Spool::Parcel> parcel = Next();
    ASSERT_TRUE(parcel.ok()) << parcel.status();
    spool_->Acknowledge(parcel->window.key);
  }

  // Sends everything to a server that knows keys: it counts a window it has
  // seen once.
  void Drain(std::map<WindowKey, uint64_t>* server) {
    while (true) {
      const absl::StatusOr<Spool::Parcel> parcel = Next();
      if (absl::IsNotFound(parcel.status())) return;
      ASSERT_TRUE(parcel.ok()) << parcel.status();
      const Window& window = parcel->window;
      server->emplace(window.key, window.cells[0].acquisitions);
      spool_->Acknowledge(window.key);
    }
  }

  std::vector<uint64_t> DrainSeqs() {
    std::vector<uint64_t> seqs;
    for (auto parcel = Next(); parcel.ok(); parcel = Next()) {
      seqs.push_back(parcel->window.key.seq);
      spool_->Acknowledge(parcel->window.key);
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

  Platter platter_{kSmallBytes};
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
  AcknowledgeNext();
  ASSERT_TRUE(Next().ok());
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
  EXPECT_EQ(Serialize(Next()->window), Serialize(MakeWindow("host-a", 7)));
}

TEST_F(SpoolTest, SameWindowTwiceIsKeptOnce) {
  Reopen();
  Append(1);
  Append(1);
  EXPECT_EQ(spool_->stats().pending, 1u);
}

TEST_F(SpoolTest, TheFileHasItsSizeFromTheBeginning) {
  Reopen();
  EXPECT_EQ(Bytes().size(), options_.max_bytes);
  struct stat status;
  ASSERT_EQ(stat(Path().c_str(), &status), 0);
  EXPECT_GE(static_cast<uint64_t>(status.st_blocks) * 512, options_.max_bytes);
  for (uint64_t seq = 1; seq <= 100; ++seq) Append(seq);
  EXPECT_EQ(Bytes().size(), options_.max_bytes);
}

TEST_F(SpoolTest, AFileThatIsThereKeepsItsSize) {
  Reopen();
  Append(1);
  options_.max_bytes *= 2;
  Reopen();
  EXPECT_EQ(spool_->stats().recovered, 1u);
  EXPECT_EQ(Bytes().size(), options_.max_bytes / 2);
  options_.max_bytes /= 4;
  Reopen();
  EXPECT_EQ(spool_->stats().recovered, 1u);
}

TEST_F(SpoolTest, DamagedRecordInTheMiddleIsLeftOutAndCounted) {
  Reopen();
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(seq);
  spool_.reset();
  std::string bytes = Bytes();
  const size_t second = bytes.find("rec2", bytes.find("rec2") + 1);
  bytes[second + 60] = static_cast<char>(bytes[second + 60] ^ 4);
  SetBytes(bytes);
  Reopen();
  EXPECT_EQ(spool_->stats().damaged, 1u);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{1, 3}));
}

TEST_F(SpoolTest, ATornTailIsCutOffAndCounted) {
  Reopen();
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(seq);
  spool_.reset();
  std::string bytes = Bytes();
  std::fill(bytes.begin() + static_cast<ptrdiff_t>(bytes.rfind("rec2") + 100),
            bytes.end(), '\0');
  SetBytes(bytes);
  Reopen();
  EXPECT_EQ(spool_->stats().damaged, 1u);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{1, 2}));
}

TEST_F(SpoolTest, ForeignFileIsMovedAside) {
  Reopen();
  spool_.reset();
  // Another version's, too.
  for (const char* foreign : {"#!/bin/sh\nexit 0\n", "swaplsp9 and more"}) {
    SetBytes(foreign);
    Reopen();
    Append(1);
    Reopen();
    EXPECT_EQ(DrainSeqs(), std::vector<uint64_t>{1});
    std::string aside;
    std::getline(std::ifstream(Path() + ".damaged"), aside);
    EXPECT_EQ(aside, std::string(foreign).substr(0, aside.size()));
    spool_.reset();
  }
}

TEST_F(SpoolTest, SecondUserOfTheFolderIsRefused) {
  Reopen();
  EXPECT_TRUE(absl::IsFailedPrecondition(Spool::Open(options_).status()));
}

TEST_F(SpoolTest, FullSpoolMergesTheOldestAndLosesNoCount) {
  UseMemoryDisk();
  Reopen();
  constexpr uint64_t kWindows = 200;
  for (uint64_t seq = 1; seq <= kWindows; ++seq) Append(seq);
  EXPECT_GT(spool_->stats().merged, 0u);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  EXPECT_LE(spool_->stats().pending_bytes, options_.max_bytes);
  Reopen();
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3 * kWindows);
  EXPECT_LT(server.size(), kWindows);
}

// The server keeps the longest hold of each hour.
TEST_F(SpoolTest, MergedWindowsAreNoLongerThanAnHourWhileThatHelps) {
  UseMemoryDisk();
  Reopen();
  constexpr uint64_t kHours = 4;
  for (uint64_t seq = 1; seq <= kHours * 360; ++seq) Append(seq);
  uint64_t merged = 0;
  for (auto parcel = Next(); parcel.ok(); parcel = Next()) {
    EXPECT_LE(parcel->window.merged, 360u);
    merged += parcel->window.merged == 360 ? 1 : 0;
    spool_->Acknowledge(parcel->window.key);
  }
  EXPECT_GE(merged, kHours - 1);
}

TEST_F(SpoolTest, MergingLeavesAWindowThatWasHandedOutAlone) {
  UseMemoryDisk();
  Reopen();
  Append(1);
  const WindowKey in_flight = Next()->window.key;
  for (uint64_t seq = 2; seq <= 100; ++seq) Append(seq);
  EXPECT_EQ(Next()->window.key, in_flight);
  EXPECT_EQ(Next()->window.merged, 0u);
  Reopen();
  for (uint64_t seq = 101; seq <= 200; ++seq) Append(seq);
  EXPECT_EQ(Next()->window.key, in_flight);
  EXPECT_EQ(Next()->window.merged, 0u);
}

TEST_F(SpoolTest, AWindowThatWasNotHandedOutMayBeMerged) {
  UseMemoryDisk();
  Reopen();
  for (uint64_t seq = 1; seq <= 100; ++seq) Append(seq);
  EXPECT_GT(Next()->window.merged, 1u);
}

TEST_F(SpoolTest, MergingLeavesWindowsInDoubtAloneAlsoAfterARestart) {
  UseMemoryDisk();
  Reopen();
  Append(1);
  ASSERT_TRUE(spool_->AppendInDoubt(MakeWindow("host-a", 2)).ok());
  Reopen();
  for (uint64_t seq = 3; seq <= 100; ++seq) Append(seq);
  AcknowledgeNext();
  EXPECT_EQ(Next()->window.key.seq, 2u);
  EXPECT_EQ(Next()->window.merged, 0u);
}

TEST_F(SpoolTest, OrderSurvivesARestartAfterMerging) {
  UseMemoryDisk();
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  AcknowledgeNext();
  const WindowKey oldest = *spool_->Oldest();
  Reopen();
  EXPECT_EQ(*spool_->Oldest(), oldest);
}

TEST_F(SpoolTest, WindowMergedAwayIsStillKnown) {
  UseMemoryDisk();
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  Append(2);  // lies inside a merged one
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3u * 60);
}

TEST_F(SpoolTest, FullOfWindowsThatMayNotMergeRefusesAndCounts) {
  UseMemoryDisk();
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

TEST_F(SpoolTest, OnlyTheHostOfAStreamIsHandedOut) {
  Reopen();
  Append(1);
  ASSERT_TRUE(spool_->Append(MakeWindow("host-b", 1)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      spool_->NextToSend("host-b", kServer).status()));
  AcknowledgeNext();
  EXPECT_TRUE(absl::IsFailedPrecondition(Next().status()));
  EXPECT_TRUE(spool_->NextToSend("host-b", kServer).ok());
}

TEST_F(SpoolTest, AWindowIsInDoubtAtAnotherServerAlsoAfterARestart) {
  Reopen();
  Append(1);
  Append(2);
  EXPECT_EQ(spool_->OldestSentTo(), 0u);
  EXPECT_FALSE(Next()->in_doubt);
  EXPECT_FALSE(Next()->in_doubt);  // the same server knows its keys
  EXPECT_EQ(spool_->OldestSentTo(), kServer);
  Reopen();
  EXPECT_EQ(spool_->OldestSentTo(), kServer);
  EXPECT_FALSE(Next()->in_doubt);
  EXPECT_TRUE(spool_->NextToSend("host-a", kServer + 1)->in_doubt);
  // From now on either may have it.
  EXPECT_TRUE(Next()->in_doubt);
  Reopen();
  EXPECT_TRUE(Next()->in_doubt);
  AcknowledgeNext();
  EXPECT_TRUE(Next()->in_doubt);  // it was marked ahead of its turn
}

TEST_F(SpoolTest, WithoutAFolderItWorksInMemory) {
  options_.folder.clear();
  options_.max_bytes = kSmallBytes;
  Reopen();
  for (uint64_t seq = 1; seq <= 60; ++seq) Append(seq);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  std::map<WindowKey, uint64_t> server;
  Drain(&server);
  EXPECT_EQ(Total(server), 3u * 60);
}

TEST_F(SpoolTest, AFolderThatCannotBeMadeIsNoReasonNotToStart) {
  const std::string file = absl::StrCat(testing::TempDir(), "/no_folder");
  std::ofstream(file) << "x";
  options_.folder = absl::StrCat(file, "/state");
  Reopen();
  Append(1);
  EXPECT_EQ(spool_->stats().only_in_memory, 1u);
  EXPECT_GT(spool_->stats().disk_errors, 0u);
  EXPECT_EQ(DrainSeqs(), std::vector<uint64_t>{1});
}

// It may be on that disk, and merged with another one.
TEST_F(SpoolTest, AWindowInDoubtWaitsForTheDiskThatMayHaveIt) {
  UseMemoryDisk();
  Reopen();
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(seq);
  platter_.fault = [](DiskCall, uint64_t) {
    return absl::UnavailableError("injected");
  };
  Reopen();
  ASSERT_TRUE(spool_->AppendInDoubt(MakeWindow("host-a", 3)).ok());
  Append(4);
  EXPECT_EQ(DrainSeqs(), std::vector<uint64_t>{4});
  platter_.fault = nullptr;
  Append(5);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{1, 2, 3, 5}));
  // And one that is not there.
  platter_.fault = [](DiskCall, uint64_t) {
    return absl::UnavailableError("injected");
  };
  Reopen();
  ASSERT_TRUE(spool_->AppendInDoubt(MakeWindow("host-a", 6)).ok());
  platter_.fault = nullptr;
  Append(7);
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{6, 7}));
}

// While the disk refuses to note that a window is on its way, those that are on
// disk wait, and those that are in memory only pass them.
TEST_F(SpoolTest, WindowsInMemoryPassThoseThatTheDiskHoldsBack) {
  Platter platter(1 << 20);
  options_.open_disk = platter.Opener();
  Reopen();
  for (uint64_t seq = 1; seq <= 20; ++seq) Append(seq);
  AcknowledgeNext();
  platter.fault = [](DiskCall call, uint64_t) {
    return call == DiskCall::kRead ? absl::OkStatus()
                                   : absl::UnavailableError("injected");
  };
  Append(21);  // its write may have reached the disk
  Append(22);
  // Window 1 to 8 were marked together.
  EXPECT_EQ(DrainSeqs(), (std::vector<uint64_t>{2, 3, 4, 5, 6, 7, 8, 22}));
  EXPECT_TRUE(absl::IsUnavailable(Next().status()));
  EXPECT_GT(spool_->stats().held, 0u);
  platter.fault = nullptr;
  Append(23);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  EXPECT_EQ(DrainSeqs().size(), 14u);
}

// A file system of its own with little room. Mounted in a name space of this
// process, so nothing of it is left behind.
TEST_F(SpoolTest, RealDiskThatIsFullIsWaitedFor) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    std::puts("SKIPPED: only root can mount a small file system");
    return;
  }
  options_.max_bytes = 1 << 20;
  const std::string disk =
      options_.folder.substr(0, options_.folder.rfind('/'));
  ASSERT_EQ(mount("none", disk.c_str(), "tmpfs", 0, "size=1536k"), 0);
  const auto fill = [&disk] {
    std::ofstream ballast(disk + "/ballast", std::ios::binary);
    while (ballast << std::string(4096, 'x') << std::flush) {
    }
  };
  fill();
  Reopen();
  Append(1);
  Append(2);
  EXPECT_EQ(spool_->stats().only_in_memory, 2u);
  ASSERT_EQ(unlink((disk + "/ballast").c_str()), 0);
  Append(3);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  // Now that the file has its bytes, a full disk changes nothing, and starting
  // again needs no room either.
  fill();
  for (uint64_t seq = 4; seq <= 40; ++seq) Append(seq);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  Reopen();
  EXPECT_EQ(spool_->stats().recovered, 40u);
  AcknowledgeNext();
  Append(41);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  // Read-only: as if it were not there; writable again: all is taken up.
  spool_.reset();
  ASSERT_EQ(
      mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr),
      0);
  Reopen();
  Append(42);
  EXPECT_EQ(spool_->stats().only_in_memory, 1u);
  ASSERT_EQ(mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  Append(43);
  EXPECT_EQ(spool_->stats().only_in_memory, 0u);
  EXPECT_EQ(DrainSeqs().size(), 42u);
  spool_.reset();
  umount(disk.c_str());
}

}  // namespace
}  // namespace swaplock
