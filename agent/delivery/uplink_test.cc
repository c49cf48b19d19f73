#include "agent/delivery/uplink.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/delivery/fake_server.h"
#include "agent/delivery/faulty_disk.h"
#include "common/testing.h"

namespace swaplock {
namespace {

class UplinkTest : public testing::Test {
 protected:
  UplinkTest() : spool_(*Spool::Open({})) {}

  void StartUplink() {
    Uplink::Options options;
    options.servers = {server_.Address()};
    if (second_server_ != nullptr) {
      options.servers.push_back(second_server_->Address());
    }
    options.patience = patience_;
    options.identity = MakeWindow("host-a", 1).key;
    options.first_backoff = first_backoff_;
    options.backoff_cap = first_backoff_;
    options.answer_timeout = answer_timeout_;
    uplink_ = std::make_unique<Uplink>(options, spool_.get());
  }

  void Append(uint64_t seq, absl::string_view host = "host-a") {
    ASSERT_TRUE(spool_->Append(MakeWindow(host, seq)).ok());
    if (uplink_ != nullptr) uplink_->Wake();
  }

  bool Drain() { return uplink_->Drain(absl::Seconds(60)); }

  absl::Duration first_backoff_ = absl::Milliseconds(10);
  absl::Duration answer_timeout_ = absl::Seconds(30);
  absl::Duration patience_ = absl::ZeroDuration();
  FakeServer server_;
  std::unique_ptr<FakeServer> second_server_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Uplink> uplink_;
};

TEST_F(UplinkTest, DeliversWaitingAndNewWindowsInOrder) {
  server_.Start();
  Append(1);
  Append(2);
  StartUplink();
  ASSERT_TRUE(server_.WaitForWindows(2));
  Append(3);
  ASSERT_TRUE(server_.WaitForWindows(3));
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(server_.hellos(), std::vector<std::string>{"host-a"});
  EXPECT_EQ(uplink_->stats().acknowledged, 3u);
  EXPECT_EQ(uplink_->stats().duplicates, 0u);
}

TEST_F(UplinkTest, ConnectsAndSaysHelloWithNothingToSend) {
  server_.Start();
  StartUplink();
  EXPECT_TRUE(server_.WaitForHellos(1));
  EXPECT_TRUE(Drain());
}

TEST_F(UplinkTest, LostAcknowledgementsChangeNoTotal) {
  first_backoff_ = absl::Microseconds(100);
  server_.Start();
  constexpr int kLost = 1'000;
  for (int i = 0; i < kLost; ++i) {
    server_.AddFault([this](const v1::Window& window, FakeServer::Call*) {
      server_.Take(window);  // durable, and then the server dies
      return true;
    });
  }
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(seq);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3u * 3);
  EXPECT_EQ(uplink_->stats().acknowledged, 3u);
  EXPECT_EQ(uplink_->stats().duplicates, 1u);
  EXPECT_EQ(uplink_->stats().streams, kLost + 1u);
}

TEST_F(UplinkTest, ServerThatNeverAnswersIsGivenUp) {
  answer_timeout_ = absl::Milliseconds(50);
  server_.Start();
  server_.AddFault([](const v1::Window&, FakeServer::Call*) { return false; });
  Append(1);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 1}));
}

TEST_F(UplinkTest, PostponedWindowIsSentAgainOnTheSameStream) {
  server_.Start();
  server_.AddFault([](const v1::Window& window, FakeServer::Call* stream) {
    stream->Write(RejectOf(window, 5));
    return false;
  });
  Append(1);
  Append(2);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 1, 2}));
  EXPECT_EQ(uplink_->stats().postponed, 1u);
  EXPECT_EQ(uplink_->stats().streams, 1u);
}

TEST_F(UplinkTest, WindowRefusedForGoodDoesNotBlockTheNext) {
  server_.Start();
  server_.AddFault([](const v1::Window& window, FakeServer::Call* stream) {
    stream->Write(RejectOf(window, 0));
    return false;
  });
  Append(1);
  Append(2);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(uplink_->stats().refused, 1u);
}

TEST_F(UplinkTest, AnswerForAnotherWindowAcknowledgesNothing) {
  server_.Start();
  server_.AddFault([](const v1::Window& window, FakeServer::Call* stream) {
    v1::Window other = window;
    other.set_seq(window.seq() + 1);
    stream->Write(AckOf(other, false));
    return false;
  });
  Append(1);
  Append(2);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 1, 2}));
}

TEST_F(UplinkTest, EachHostHasAStreamOfItsOwn) {
  server_.Start();
  Append(1, "host-a");
  Append(1, "host-b");
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.hellos(), (std::vector<std::string>{"host-a", "host-b"}));
}

TEST_F(UplinkTest, ServerThatComesBackGetsEverything) {
  server_.Start();
  StartUplink();
  ASSERT_TRUE(server_.WaitForHellos(1));
  server_.Stop();
  Append(1);
  Append(2);
  server_.Start();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 2u * 3);
}

TEST_F(UplinkTest, DrainGivesUpWhenTheNextAttemptWouldBeTooLate) {
  server_.Start();
  server_.Stop();  // its port is free now, and refuses
  first_backoff_ = absl::Hours(10'000);
  Append(1);
  StartUplink();
  EXPECT_FALSE(uplink_->Drain(absl::Seconds(60)));
  EXPECT_EQ(spool_->stats().pending, 1u);
}

TEST_F(UplinkTest, DestructionDeletesNothing) {
  server_.Start();
  server_.AddFault([](const v1::Window&, FakeServer::Call*) { return false; });
  Append(1);
  StartUplink();
  ASSERT_TRUE(server_.WaitForHellos(1));
  uplink_.reset();
  EXPECT_EQ(spool_->stats().pending, 1u);
}

TEST_F(UplinkTest, ServerOfAnotherProtocolGetsNoWindow) {
  server_.protocol = 2;
  server_.Start();
  Append(1);
  StartUplink();
  ASSERT_TRUE(server_.WaitForHellos(3));
  uplink_.reset();
  EXPECT_TRUE(server_.received().empty());
  EXPECT_EQ(spool_->stats().pending, 1u);
}

// A server that sends each connection away after a moment.
TEST_F(UplinkTest, ConnectionsThatAreSentAwayChangeNoTotal) {
  server_.max_connection_age_ms = 20;
  server_.Start();
  StartUplink();
  constexpr uint64_t kWindows = 40;
  for (uint64_t seq = 1; seq <= kWindows || server_.hellos().size() < 5;
       ++seq) {
    Append(seq);
    ASSERT_TRUE(server_.WaitForWindows(seq));
  }
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3 * uplink_->stats().acknowledged);
  EXPECT_EQ(spool_->stats().pending, 0u);
}

TEST_F(UplinkTest, TurnsToTheSecondServerWhenTheFirstIsAway) {
  server_.Start();
  second_server_ = std::make_unique<FakeServer>();
  second_server_->Start();
  server_.Stop();
  Append(1);
  StartUplink();
  ASSERT_TRUE(second_server_->WaitForWindows(1));
  EXPECT_TRUE(Drain());
  EXPECT_EQ(uplink_->stats().turns, 1u);
  // It never reached the first one.
  EXPECT_EQ(uplink_->stats().in_doubt, 0u);
}

TEST_F(UplinkTest, TheWindowThatWasOnItsWayIsInDoubtAtTheSecondServer) {
  server_.Start();
  second_server_ = std::make_unique<FakeServer>();
  second_server_->Start();
  server_.AddFault([this](const v1::Window& window, FakeServer::Call*) {
    server_.Take(window);
    return true;
  });
  for (int i = 0; i < 2; ++i) {
    server_.AddFault([](const v1::Window&, FakeServer::Call*) { return true; });
  }
  Append(1);
  Append(2);
  StartUplink();
  ASSERT_TRUE(second_server_->WaitForWindows(2));
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 1, 1}));
  EXPECT_EQ(second_server_->received(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(second_server_->in_doubt(), std::vector<uint64_t>{1});
  EXPECT_EQ(uplink_->stats().in_doubt, 1u);
}

TEST_F(UplinkTest, PatienceKeepsAWindowOnItsWayFromTheSecondServer) {
  patience_ = absl::Hours(1);
  server_.Start();
  second_server_ = std::make_unique<FakeServer>();
  second_server_->Start();
  for (int i = 0; i < 20; ++i) {
    server_.AddFault([](const v1::Window&, FakeServer::Call*) { return true; });
  }
  Append(1);
  StartUplink();
  ASSERT_TRUE(server_.WaitForWindows(1));
  EXPECT_TRUE(Drain());
  EXPECT_TRUE(second_server_->hellos().empty());
  EXPECT_EQ(uplink_->stats().in_doubt, 0u);
}

TEST_F(UplinkTest, SettingsOfTheServerAreKept) {
  v1::ServerMessage settings;
  settings.mutable_settings()->set_interval_ms(5'000);
  settings.mutable_settings()->set_top_k(3);
  v1::ServerMessage lease;
  lease.mutable_settings()->set_top_k(64);
  lease.mutable_settings()->set_lease_ms(3'600'000);
  v1::ServerMessage unknown;
  server_.Greet({unknown, settings, lease});
  server_.Start();
  StartUplink();
  EXPECT_EQ(uplink_->settings().top_k, 0);
  Append(1);
  ASSERT_TRUE(server_.WaitForWindows(1));
  EXPECT_TRUE(Drain());
  EXPECT_EQ(uplink_->settings().top_k, 64);
  EXPECT_EQ(uplink_->settings().interval, absl::ZeroDuration());
}

TEST_F(UplinkTest, ConnectsAnewWhenTheServerAsks) {
  v1::ServerMessage reconnect;
  reconnect.mutable_reconnect()->set_within_ms(1);
  server_.Greet({reconnect});
  server_.Start();
  StartUplink();
  EXPECT_TRUE(server_.WaitForHellos(2));
  Append(1);
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3u);
}

TEST_F(UplinkTest, AWindowThatNoServerTakesDoesNotBlockTheLine) {
  Window huge = MakeWindow("host-a", 1);
  const Cell cell = huge.cells[0];
  while (Serialize(huge).size() <= size_t{1} << 20) {
    for (int i = 0; i < 1'000; ++i) {
      huge.cells.push_back(cell);
      huge.cells.back().key.device = absl::StrCat("zram", huge.cells.size());
    }
  }
  ASSERT_TRUE(spool_->Append(huge).ok());
  Append(2);
  server_.Start();
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), std::vector<uint64_t>{2});
  EXPECT_EQ(uplink_->stats().refused, 1u);
  EXPECT_EQ(uplink_->stats().sent, 1u);
}

// The disk of a host that is not known to have taken note holds windows back;
// the uplink tries again.
TEST_F(UplinkTest, WindowsThatTheDiskHoldsBackAreSentLater) {
  Platter platter(1 << 20);
  spool_ = *Spool::Open({"", 1 << 20, platter.Opener()});
  Append(1);
  std::atomic<int> failures = 5;
  platter.fault = [&failures](DiskCall call, uint64_t) {
    if (call == DiskCall::kRead || failures.fetch_sub(1) <= 0) {
      return absl::OkStatus();
    }
    return absl::UnavailableError("injected");
  };
  server_.Start();
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), std::vector<uint64_t>{1});
  uplink_.reset();
  spool_.reset();
}

}  // namespace
}  // namespace swaplock
