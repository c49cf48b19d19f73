#include "server/ledger/writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// Commits everything but windows of the host "poison"; waits before the first
// commit until it is told to go on.
class FakeLedger : public Ledger {
 public:
  absl::StatusOr<std::vector<Outcome>> Commit(
      const std::vector<Window>& windows, absl::Time) override {
    if (!entered.HasBeenNotified()) {
      entered.Notify();
      go_on.WaitForNotification();
    }
    for (const Window& window : windows) {
      if (window.key.host_id == "poison") return absl::InternalError("poison");
    }
    batches.push_back(windows.size());
    return std::vector<Outcome>(windows.size());
  }
  absl::StatusOr<FleetState> Load(absl::Time) override { return FleetState(); }
  absl::StatusOr<std::unique_ptr<EvidenceReader>> OpenEvidence() override {
    return absl::UnimplementedError("not here");
  }
  VerdictStore* verdicts() override { return nullptr; }
  QuarantineStore* quarantine() override { return nullptr; }

  absl::Notification entered;
  absl::Notification go_on;
  std::vector<size_t> batches;  // sizes; read after the writer has ended
};

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    writer_ = std::make_unique<Writer>(&ledger_, &fleet_, Clock());
  }
  // Occupies the writer's thread until ledger_.go_on.
  void Occupy() {
    ASSERT_TRUE(
        writer_->Submit(MakeWindow("first", 1), 100, [](const auto&) {}));
    ledger_.entered.WaitForNotification();
  }

  FakeLedger ledger_;
  Fleet fleet_{FleetState()};
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterTest, WindowsThatWaitShareACommit) {
  Occupy();
  for (uint64_t seq = 1; seq <= 100; ++seq) {
    ASSERT_TRUE(writer_->Submit(MakeWindow("a", seq), 100, [](const auto&) {}));
  }
  ledger_.go_on.Notify();
  writer_.reset();
  EXPECT_EQ(ledger_.batches, (std::vector<size_t>{1, 64, 36}));
  EXPECT_EQ(fleet_.Snapshot().state.windows_merged, 101u);
  EXPECT_EQ(fleet_.Snapshot().commits, 3u);
}

TEST_F(WriterTest, TellsTheFleetBeforeTheSender) {
  Occupy();
  uint64_t merged_when_told = 0;
  ASSERT_TRUE(
      writer_->Submit(MakeWindow("a", 1), 100, [&](const auto& outcome) {
        EXPECT_TRUE(outcome.ok());
        merged_when_told = fleet_.Snapshot().state.windows_merged;
      }));
  ledger_.go_on.Notify();
  writer_.reset();
  EXPECT_EQ(merged_when_told, 2u);
}

TEST_F(WriterTest, OneBadWindowDoesNotHoldUpTheOthers) {
  Occupy();
  std::vector<std::string> told;
  for (const char* host : {"a", "poison", "b"}) {
    ASSERT_TRUE(writer_->Submit(
        MakeWindow(host, 1), 100, [&told, host](const auto& outcome) {
          told.push_back(std::string(host) + (outcome.ok() ? " ok" : " no"));
        }));
  }
  ledger_.go_on.Notify();
  writer_.reset();
  EXPECT_EQ(told, (std::vector<std::string>{"a ok", "poison no", "b ok"}));
  EXPECT_EQ(fleet_.Snapshot().state.hosts.count("poison"), 0u);
  EXPECT_EQ(fleet_.Snapshot().state.windows_merged, 3u);
}

TEST_F(WriterTest, RefusesWhenTheQueueIsFull) {
  Occupy();
  const Window window = MakeWindow("a", 1);
  for (size_t i = 0; i < Writer::kMaxWaiting; ++i) {
    ASSERT_TRUE(writer_->Submit(window, 100, [](const auto&) {}));
  }
  EXPECT_FALSE(writer_->Submit(window, 100, [](const auto&) { FAIL(); }));
  ledger_.go_on.Notify();
}

TEST_F(WriterTest, RefusesMoreBytesThanMayWait) {
  Occupy();
  const Window window = MakeWindow("a", 1);
  const size_t half = Writer::kMaxWaitingBytes / 2;
  ASSERT_TRUE(writer_->Submit(window, half, [](const auto&) {}));
  ASSERT_TRUE(writer_->Submit(window, half, [](const auto&) {}));
  EXPECT_FALSE(writer_->Submit(window, 1, [](const auto&) { FAIL(); }));
  ledger_.go_on.Notify();
}

TEST_F(WriterTest, KernelsThatAreTooManyAreCountedTogether) {
  ledger_.go_on.Notify();
  for (uint64_t seq = 1; seq <= 10; ++seq) {
    ASSERT_TRUE(
        writer_->Submit(MakeWindow("a", seq, "6.1." + std::to_string(seq)), 100,
                        [](const auto&) {}));
  }
  writer_.reset();
  const FleetSnapshot snapshot = fleet_.Snapshot();
  EXPECT_EQ(snapshot.state.cohorts.size(), 5u);
  EXPECT_EQ(snapshot.state.cohorts.count({"other", ""}), 1u);
  EXPECT_EQ(snapshot.overflow.kernels, 6u);
  EXPECT_EQ(snapshot.state.windows_merged, 10u);
}

}  // namespace
}  // namespace swaplock
