#include "agent/uplink.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

using Call = grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>;

v1::ServerMessage AckOf(const v1::Window& window, bool duplicate) {
  v1::ServerMessage message;
  message.mutable_ack()->set_boot_id(window.boot_id());
  message.mutable_ack()->set_epoch(window.epoch());
  message.mutable_ack()->set_seq(window.seq());
  message.mutable_ack()->set_duplicate(duplicate);
  return message;
}

v1::ServerMessage RejectOf(const v1::Window& window, uint64_t retry_after_ms) {
  v1::ServerMessage message;
  message.mutable_reject()->set_boot_id(window.boot_id());
  message.mutable_reject()->set_epoch(window.epoch());
  message.mutable_reject()->set_seq(window.seq());
  message.mutable_reject()->set_reason("because");
  message.mutable_reject()->set_retry_after_ms(retry_after_ms);
  return message;
}

// A server that keeps keys in memory and, before it answers a window properly,
// plays the faults it was given, one per window received.
class FakeServer final : public v1::Telemetry::Service {
 public:
  // Whether to end the stream.
  using Fault = std::function<bool(const v1::Window&, Call*)>;

  ~FakeServer() override { Stop(); }

  void Start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(absl::StrCat("127.0.0.1:", port_),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_ = nullptr;
  }

  void AddFault(Fault fault) {
    absl::MutexLock lock(&mutex_);
    faults_.push_back(std::move(fault));
  }

  std::string Address() const { return absl::StrCat("127.0.0.1:", port_); }

  // Until so many different windows were taken.
  bool WaitForWindows(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count] {
      mutex_.AssertReaderHeld();
      return taken_.size() >= count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60));
  }
  bool WaitForHellos(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count] {
      mutex_.AssertReaderHeld();
      return hellos_.size() >= count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60));
  }

  std::vector<uint64_t> received() {
    absl::MutexLock lock(&mutex_);
    return received_;
  }
  std::vector<std::string> hellos() {
    absl::MutexLock lock(&mutex_);
    return hellos_;
  }
  uint64_t acquisitions() {
    absl::MutexLock lock(&mutex_);
    uint64_t sum = 0;
    for (const auto& [key, count] : taken_) sum += count;
    return sum;
  }

  uint32_t protocol = 1;

 private:
  grpc::Status Stream(grpc::ServerContext*, Call* stream) override {
    v1::AgentMessage message;
    if (!stream->Read(&message) || !message.has_hello()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "no hello"};
    }
    {
      absl::MutexLock lock(&mutex_);
      hellos_.push_back(message.hello().host_id());
    }
    v1::ServerMessage welcome;
    welcome.mutable_welcome()->set_protocol(protocol);
    welcome.mutable_welcome()->set_credit(1);
    stream->Write(welcome);
    while (stream->Read(&message)) {
      const v1::Window& window = message.window();
      Fault fault;
      {
        absl::MutexLock lock(&mutex_);
        received_.push_back(window.seq());
        if (!faults_.empty()) {
          fault = std::move(faults_.front());
          faults_.pop_front();
        }
      }
      if (fault != nullptr) {
        if (fault(window, stream)) {
          return {grpc::StatusCode::UNAVAILABLE, "a fault"};
        }
        continue;
      }
      stream->Write(AckOf(window, !Take(window)));
    }
    return grpc::Status::OK;
  }

 public:
  // Returns whether the window was new.
  bool Take(const v1::Window& window) {
    absl::MutexLock lock(&mutex_);
    return taken_
        .emplace(WindowKey{window.host_id(), window.boot_id(), window.epoch(),
                           window.seq()},
                 window.cells(0).acquisitions())
        .second;
  }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  absl::Mutex mutex_;
  std::deque<Fault> faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> received_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> hellos_ ABSL_GUARDED_BY(mutex_);
  std::map<WindowKey, uint64_t> taken_ ABSL_GUARDED_BY(mutex_);
};

class UplinkTest : public testing::Test {
 protected:
  UplinkTest() : spool_(*Spool::Open({})) {}

  void StartUplink() {
    Uplink::Options options;
    options.servers = {server_.Address()};
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
  FakeServer server_;
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
  server_.Start();
  for (int i = 0; i < 20; ++i) {
    server_.AddFault([this](const v1::Window& window, Call*) {
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
  EXPECT_EQ(uplink_->stats().streams, 21u);
}

TEST_F(UplinkTest, ServerThatNeverAnswersIsGivenUp) {
  answer_timeout_ = absl::Milliseconds(50);
  server_.Start();
  server_.AddFault([](const v1::Window&, Call*) { return false; });
  Append(1);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.received(), (std::vector<uint64_t>{1, 1}));
}

TEST_F(UplinkTest, PostponedWindowIsSentAgainOnTheSameStream) {
  server_.Start();
  server_.AddFault([](const v1::Window& window, Call* stream) {
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
  server_.AddFault([](const v1::Window& window, Call* stream) {
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
  server_.AddFault([](const v1::Window& window, Call* stream) {
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
  server_.AddFault([](const v1::Window&, Call*) { return false; });
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

}  // namespace
}  // namespace swaplock
