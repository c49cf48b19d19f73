// A simulated rollout through a whole server: windows in over gRPC, days pass,
// verdicts out over gRPC.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/window.h"
#include "proto/fleet.grpc.pb.h"
#include "proto/verdict_query.grpc.pb.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/listen_address.h"
#include "server/replay/host_calendar.h"
#include "server/server.h"
#include "tests/load/fleet_windows.h"
#include "tests/load/scenario_file.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kDayNs = 86'400'000'000'000;

// A host's stream; answers are read after many hosts have sent.
class Stream {
 public:
  Stream(v1::Telemetry::Stub* stub, const std::string& host)
      : stream_(stub->Stream(&context_)) {
    v1::AgentMessage message;
    message.mutable_hello()->set_protocol(1);
    message.mutable_hello()->set_host_id(host);
    EXPECT_TRUE(stream_->Write(message));
    v1::ServerMessage welcome;
    EXPECT_TRUE(stream_->Read(&welcome));
  }
  void Send(const Window& window) {
    v1::AgentMessage message;
    *message.mutable_window() = ToProto(window);
    EXPECT_TRUE(stream_->Write(message));
  }
  bool IsAcknowledged() {
    v1::ServerMessage answer;
    EXPECT_TRUE(stream_->Read(&answer));
    EXPECT_TRUE(answer.has_ack()) << answer.ShortDebugString();
    return answer.has_ack() && !answer.ack().duplicate();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>>
      stream_;
};

class RolloutThroughServerTest : public ::testing::Test {
 protected:
  RolloutThroughServerTest() {
    std::string directory = ::testing::TempDir() + "/rollout-XXXXXX";
    auto ledger = SqliteLedger::Open(mkdtemp(directory.data()));
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    ServerOptions options;
    options.grpc_listen = *ParseListenAddress("127.0.0.1:0");
    options.http_listen = *ParseListenAddress("127.0.0.1:0");
    options.clock.wall = [this] { return absl::FromUnixNanos(now_ns_); };
    options.verdicts.self_test_splits = 0;
    auto server = Server::Start(*std::move(ledger), std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", server_->grpc_port()),
                            grpc::InsecureChannelCredentials());
  }

  // Sends the windows, day by day, and judges the two days after the last.
  void Feed(const std::vector<Window>& windows) {
    const auto stub = v1::Telemetry::NewStub(channel_);
    std::map<std::string, std::unique_ptr<Stream>> hosts;
    for (size_t first = 0; first < windows.size();) {
      now_ns_ = (DayOf(windows[first]) + 1) * kDayNs;
      size_t end = first;
      std::vector<Stream*> sent;
      for (;
           end < windows.size() && DayOf(windows[end]) == DayOf(windows[first]);
           ++end) {
        std::unique_ptr<Stream>& host = hosts[windows[end].key.host_id];
        if (host == nullptr) {
          host = std::make_unique<Stream>(stub.get(), windows[end].key.host_id);
        }
        host->Send(windows[end]);
        sent.push_back(host.get());
      }
      for (Stream* host : sent) ASSERT_TRUE(host->IsAcknowledged());
      first = end;
    }
    for (int days = 0; days < 2; ++days) {
      now_ns_ = (DayOf(windows.back()) + 1 + days) * kDayNs +
                absl::ToInt64Nanoseconds(absl::Hours(2));
      const absl::Status status = server_->RefreshVerdicts();
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  v1::VerdictBook Verdicts() {
    const auto stub = v1::Verdicts::NewStub(channel_);
    grpc::ClientContext context;
    v1::VerdictBook book;
    const grpc::Status status = stub->ListVerdicts(&context, {}, &book);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return book;
  }

  static Scenario OneScenario() {
    const auto scenarios =
        ReadScenarios("tests/load/scenarios/rollout.textproto");
    EXPECT_TRUE(scenarios.ok()) << scenarios.status();
    return scenarios->front();
  }

  std::atomic<int64_t> now_ns_ = 20'000 * kDayNs;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(RolloutThroughServerTest, AKernelThatIsWorseIsARegression) {
  Feed(FleetWindows(OneScenario(), 1));
  const v1::VerdictBook book = Verdicts();
  ASSERT_GT(book.verdicts_size(), 0);
  uint64_t alerts = 0;
  for (const v1::StoredVerdict& verdict : book.verdicts()) {
    alerts += verdict.alerts();
    const v1::VerdictRecord& record = verdict.record();
    if (record.outcome() != "waits_over_10ms_per_million") continue;
    EXPECT_EQ(record.kind(), v1::VERDICT_KIND_REGRESSION) << record.sentence();
    EXPECT_EQ(record.kernel_base(), "6.12.57");
    EXPECT_EQ(record.kernel_new(), "6.18.15");
    EXPECT_EQ(record.treated().hosts(), 20u);
    EXPECT_EQ(record.controls().hosts(), 20u);
    EXPECT_GT(record.effect().lower(), 1.1);
    EXPECT_THAT(record.sentence(), HasSubstr("preempt: none -> lazy"));
    EXPECT_TRUE(verdict.alerts());
  }
  EXPECT_GT(alerts, 0u);
  ASSERT_EQ(book.incidents_size(), 1);
  EXPECT_EQ(book.incidents(0).kernel_new(), "6.18.15");
  EXPECT_EQ(book.incidents(0).closed_unix_ns(), 0u);
}

TEST_F(RolloutThroughServerTest, AKernelThatIsTheSameIsNone) {
  Scenario scenario = OneScenario();
  scenario.ratio = 1;
  Feed(FleetWindows(scenario, 1));
  const v1::VerdictBook book = Verdicts();
  ASSERT_GT(book.verdicts_size(), 0);
  for (const v1::StoredVerdict& verdict : book.verdicts()) {
    EXPECT_FALSE(verdict.alerts());
    EXPECT_NE(verdict.record().kind(), v1::VERDICT_KIND_REGRESSION)
        << verdict.record().sentence();
  }
  EXPECT_EQ(book.incidents_size(), 0);
}

}  // namespace
}  // namespace swaplock
