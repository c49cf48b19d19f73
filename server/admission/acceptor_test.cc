#include "server/admission/acceptor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/time/clock.h"

namespace swaplock {
namespace {

// Takes what the acceptor gives and keeps it open.
class AcceptorTest : public ::testing::Test {
 protected:
  ~AcceptorTest() override {
    acceptor_.reset();
    for (const int fd : clients_) close(fd);
    absl::MutexLock lock(&mutex_);
    for (const int fd : taken_) close(fd);
  }
  void Listen(const AcceptLimits& limits) {
    auto acceptor =
        Acceptor::Listen(*ParseListenAddress("127.0.0.1:0"), limits);
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
  }
  void Start(const AcceptLimits& limits) {
    Listen(limits);
    Serve();
  }
  void Serve() {
    acceptor_->Start([this](int fd) {
      absl::MutexLock lock(&mutex_);
      taken_.push_back(fd);
    });
  }
  int Connect() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(acceptor_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    clients_.push_back(fd);
    return fd;
  }
  void WaitForTaken(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count] {
      mutex_.AssertReaderHeld();
      return taken_.size() >= count;
    };
    ASSERT_TRUE(
        mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60)));
  }
  void CloseTaken() {
    absl::MutexLock lock(&mutex_);
    for (const int fd : taken_) close(fd);
    taken_.clear();
  }

  std::unique_ptr<Acceptor> acceptor_;
  std::vector<int> clients_;
  absl::Mutex mutex_;
  std::vector<int> taken_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(AcceptorTest, ClosesWhatIsTooMuchAndTakesAgainWhenOneEnds) {
  AcceptLimits limits;
  limits.connections = 2;
  Start(limits);
  Connect();
  Connect();
  WaitForTaken(2);
  char byte = 0;
  EXPECT_EQ(read(Connect(), &byte, 1), 0) << "the third is closed at once";
  EXPECT_EQ(acceptor_->stats().accepted, 2u);
  EXPECT_EQ(acceptor_->stats().refused, 1u);
  EXPECT_EQ(acceptor_->stats().open, 2u);

  CloseTaken();
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (acceptor_->stats().open > 0 && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_EQ(acceptor_->stats().open, 0u);
  Connect();
  WaitForTaken(1);
}

TEST_F(AcceptorTest, WhatIsTooFastWaits) {
  AcceptLimits limits;
  limits.burst = 3;
  limits.per_second = 1e-6;
  Start(limits);
  for (int i = 0; i < 5; ++i) Connect();
  WaitForTaken(3);
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (acceptor_->stats().delayed == 0 && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_EQ(acceptor_->stats().delayed, 1u);
  EXPECT_EQ(acceptor_->stats().accepted, 3u);
  EXPECT_EQ(acceptor_->stats().refused, 0u);
  acceptor_->Stop();  // does not wait for the next one's turn
}

TEST_F(AcceptorTest, WhoGaveUpTakesNobodysTurn) {
  AcceptLimits limits;
  limits.burst = 2;
  limits.per_second = 1e-6;
  Listen(limits);
  for (int i = 0; i < 20; ++i) {
    close(Connect());
    clients_.pop_back();
  }
  Connect();
  Connect();
  Serve();
  WaitForTaken(2);
  EXPECT_EQ(acceptor_->stats().accepted, 2u);
}

TEST_F(AcceptorTest, RefusesAnAddressInUse) {
  Start({});
  ListenAddress address = *ParseListenAddress("127.0.0.1:0");
  address.port = static_cast<uint16_t>(acceptor_->port());
  EXPECT_EQ(Acceptor::Listen(address, {}).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace swaplock
