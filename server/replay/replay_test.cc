// The demonstration: what is to be seen of it, and that nobody takes it for
// more.
#include "server/replay/replay.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/query.grpc.pb.h"
#include "proto/verdict_query.grpc.pb.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/listen_address.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    std::string directory = ::testing::TempDir() + "/replay-XXXXXX";
    Replay::Options replay;
    replay.scratch_directory = mkdtemp(directory.data());
    replay.server = *ParseListenAddress("127.0.0.1:0");
    // Nothing waits for the next windows.
    replay.interval = absl::Hours(1);
    auto ledger = SqliteLedger::Open(directory);
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    ReplayClock clock;
    clock.StandAt(Replay::Beginning());
    ServerOptions options;
    options.grpc_listen = *ParseListenAddress("127.0.0.1:0");
    options.http_listen = *ParseListenAddress("127.0.0.1:0");
    options.clock = clock.AsClock();
    options.replay = kReplayNotice;
    options.verdicts.close_delay = absl::ZeroDuration();
    options.verdicts.self_test_splits = 0;
    auto server = Server::Start(*std::move(ledger), std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto started = Replay::Start(server_.get(), clock, replay);
    EXPECT_TRUE(started.ok()) << started.status();
    replay_ = *std::move(started);
    channel_ =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", server_->grpc_port()),
                            grpc::InsecureChannelCredentials());
  }

  v1::VerdictBook Verdicts() {
    const auto stub = v1::Verdicts::NewStub(channel_);
    grpc::ClientContext context;
    v1::VerdictBook book;
    const grpc::Status status = stub->ListVerdicts(&context, {}, &book);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return book;
  }

  v1::Fleet Hosts() {
    const auto stub = v1::Query::NewStub(channel_);
    grpc::ClientContext context;
    v1::Fleet fleet;
    const grpc::Status status = stub->GetFleet(&context, {}, &fleet);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return fleet;
  }

  std::unique_ptr<Server> server_;
  std::unique_ptr<Replay> replay_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Of waits over 10 ms per read.
v1::VerdictRecord Reads(const v1::VerdictBook& book, const std::string& base,
                        const std::string& newer) {
  for (const v1::StoredVerdict& verdict : book.verdicts()) {
    const v1::VerdictRecord& record = verdict.record();
    if (record.kernel_base() == base && record.kernel_new() == newer &&
        record.operation() == v1::OPERATION_READ &&
        record.outcome() == "waits_over_10ms_per_million") {
      return record;
    }
  }
  ADD_FAILURE() << "no verdict on reads from " << base << " to " << newer;
  return {};
}

TEST_F(ReplayTest, SaysWhatIsKnownOfTheRecordedKernels) {
  const v1::VerdictBook book = Verdicts();
  EXPECT_EQ(book.replay(), kReplayNotice);
  const v1::VerdictRecord worse = Reads(book, "6.12.118", "6.18.15");
  EXPECT_EQ(worse.kind(), v1::VERDICT_KIND_REGRESSION) << worse.sentence();
  EXPECT_THAT(worse.sentence(),
              HasSubstr("Cause: holders of the lock were runnable"));
  const v1::VerdictRecord better = Reads(book, "6.18.15", "6.18.15-none");
  EXPECT_EQ(better.kind(), v1::VERDICT_KIND_IMPROVEMENT) << better.sentence();
  uint64_t canaries = 0;
  for (const v1::StoredVerdict& verdict : book.verdicts()) {
    const v1::VerdictRecord& record = verdict.record();
    if (record.kernel_new() != "7.3.4") continue;
    ++canaries;
    EXPECT_EQ(record.kind(), v1::VERDICT_KIND_INCONCLUSIVE)
        << record.sentence();
  }
  EXPECT_GT(canaries, 0u);
  EXPECT_TRUE(std::any_of(
      book.verdicts().begin(), book.verdicts().end(),
      [](const v1::StoredVerdict& verdict) { return verdict.alerts(); }));
}

TEST_F(ReplayTest, ItsHostsAreConnectedAndSaidNotToExist) {
  const v1::Fleet fleet = Hosts();
  EXPECT_EQ(fleet.replay(), kReplayNotice);
  EXPECT_EQ(fleet.hosts_size(), 68);
  std::set<std::string> kernels;
  for (const v1::HostState& host : fleet.hosts()) {
    EXPECT_TRUE(host.connected()) << host.host_id();
    kernels.insert(host.kernel_release());
  }
  EXPECT_THAT(kernels,
              ElementsAre("6.12.118", "6.18.15", "6.18.15-none", "7.3.4"));
}

}  // namespace
}  // namespace swaplock
