// The uplink over a line that is slow, silent or half open.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "agent/delivery/fake_server.h"
#include "agent/delivery/faulty_proxy.h"
#include "agent/delivery/uplink.h"
#include "common/testing.h"

namespace swaplock {
namespace {

template <typename Question>
bool Eventually(const Question& question) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (!question()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

class UplinkLineTest : public testing::Test {
 protected:
  UplinkLineTest() : spool_(*Spool::Open({})) {
    server_.Start();
    const std::string address = server_.Address();
    proxy_ = std::make_unique<FaultyProxy>(
        std::stoi(address.substr(address.find(':') + 1)));
    options_.servers = {proxy_->Address()};
    options_.identity = MakeWindow("host-a", 1).key;
    options_.first_backoff = options_.backoff_cap = absl::Milliseconds(10);
  }

  void StartUplink() {
    uplink_ = std::make_unique<Uplink>(options_, spool_.get());
  }
  void Append(uint64_t seq) {
    ASSERT_TRUE(spool_->Append(MakeWindow("host-a", seq)).ok());
    if (uplink_ != nullptr) uplink_->Wake();
  }
  bool Drain() { return uplink_->Drain(absl::Seconds(60)); }

  Uplink::Options options_;
  FakeServer server_;
  std::unique_ptr<FaultyProxy> proxy_;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Uplink> uplink_;
};

TEST_F(UplinkLineTest, AnAgentThatGetsNoAnswerClosesTheConnection) {
  options_.answer_timeout = absl::Milliseconds(50);
  proxy_->silent = true;
  Append(1);
  StartUplink();
  EXPECT_TRUE(Eventually([this] { return proxy_->closed() >= 1; }));
  EXPECT_TRUE(server_.hellos().empty());
  proxy_->silent = false;
  options_.answer_timeout = absl::Seconds(30);
  uplink_.reset();
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3u);
}

// A hundred bytes a second are too slow for the answer timeout, but the agent
// does not pile up what it could not send.
TEST_F(UplinkLineTest, ALineThatTricklesIsGivenUpWithOneWindowOnIt) {
  options_.answer_timeout = absl::Milliseconds(500);
  options_.first_backoff = options_.backoff_cap = absl::Seconds(2);
  proxy_->trickle = 1;
  for (uint64_t seq = 1; seq <= 50; ++seq) Append(seq);
  StartUplink();
  EXPECT_TRUE(Eventually([this] { return proxy_->closed() >= 1; }));
  EXPECT_EQ(spool_->stats().pending, 50u);
  EXPECT_LE(spool_->stats().in_doubt, 1u);
  proxy_->trickle = 0;
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3u * 50);
}

TEST_F(UplinkLineTest, AHalfOpenConnectionIsNoticedWithNothingToSend) {
  options_.keepalive = absl::Seconds(1);
  StartUplink();
  ASSERT_TRUE(server_.WaitForHellos(1));
  ASSERT_TRUE(Eventually([this] { return uplink_->stats().connected; }));
  proxy_->silent = true;
  // Its pings are not answered.
  EXPECT_TRUE(Eventually([this] { return !uplink_->stats().connected; }));
  proxy_->silent = false;
  EXPECT_TRUE(server_.WaitForHellos(2));
  EXPECT_TRUE(Drain());
}

TEST_F(UplinkLineTest, ALongLineDeliversAll) {
  proxy_->delay_ms = 250;
  for (uint64_t seq = 1; seq <= 5; ++seq) Append(seq);
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_EQ(server_.acquisitions(), 3u * 5);
  EXPECT_EQ(uplink_->stats().streams, 1u);
}

TEST_F(UplinkLineTest, WindowsTravelCompressed) {
  Window window = MakeWindow("host-a", 1);
  window.coverage.not_measured.assign(60, std::string(500, 'x'));
  const uint64_t bytes = Serialize(window).size();
  ASSERT_TRUE(spool_->Append(window).ok());
  StartUplink();
  EXPECT_TRUE(Drain());
  EXPECT_GT(proxy_->bytes_to_server(), 0u);
  EXPECT_LT(proxy_->bytes_to_server(), bytes / 4);
}

}  // namespace
}  // namespace swaplock
