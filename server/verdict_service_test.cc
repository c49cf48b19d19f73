// The service in a process of its own server, over an in-process channel.
#include "server/verdict_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "common/secret_file.h"
#include "common/testing.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kReader[] = "rrrrrrrrrrrrrrrr-1";
constexpr char kOperator[] = "oooooooooooooooo-1";

// Waits in Compare until it is told to go on.
class SlowDesk : public FakeDesk {
 public:
  absl::StatusOr<PairComparison> Compare(const KernelPair& pair) override {
    began.Notify();
    go_on.WaitForNotification();
    return FakeDesk::Compare(pair);
  }
  absl::Notification began;
  absl::Notification go_on;
};

class VerdictServiceTest : public ::testing::Test {
 protected:
  void Start(VerdictDesk* desk, const AccessOptions& options = {}) {
    auto access = Access::Open(options);
    ASSERT_TRUE(access.ok()) << access.status();
    access_ = *std::move(access);
    Clock clock;
    clock.wall = [] { return absl::FromUnixNanos(kTestUnixNs); };
    service_ =
        std::make_unique<VerdictService>(desk, &fleet_, access_.get(), clock);
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    stub_ = v1::Verdicts::NewStub(server_->InProcessChannel({}));
  }

  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown();
  }

  std::unique_ptr<grpc::ClientContext> Context(const std::string& token = "") {
    auto context = std::make_unique<grpc::ClientContext>();
    if (!token.empty()) {
      context->AddMetadata("authorization", "Bearer " + token);
    }
    return context;
  }

  std::vector<uint64_t> List(const v1::ListVerdictsRequest& request) {
    v1::VerdictBook book;
    EXPECT_TRUE(stub_->ListVerdicts(Context().get(), request, &book).ok());
    std::vector<uint64_t> out;
    for (const v1::StoredVerdict& verdict : book.verdicts()) {
      out.push_back(verdict.id());
    }
    return out;
  }

  FakeDesk desk_;
  Fleet fleet_{FleetState()};
  std::unique_ptr<Access> access_;
  std::unique_ptr<VerdictService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::Verdicts::Stub> stub_;
};

TEST_F(VerdictServiceTest, ListsWhatFits) {
  Start(&desk_);
  v1::ListVerdictsRequest request;
  EXPECT_THAT(List(request), ElementsAre(1, 2, 3, 4, 5, 6));
  request.add_states(v1::VERDICT_STATE_NEW);
  request.set_subsystem(v1::SUBSYSTEM_ZRAM);
  request.set_kernel("6.12.57");
  EXPECT_THAT(List(request), ElementsAre(1, 3, 4));
  request.add_kinds(v1::VERDICT_KIND_REGRESSION);
  EXPECT_THAT(List(request), ElementsAre(1));
}

TEST_F(VerdictServiceTest, ExplainsWithHoldsAndHistory) {
  Window window = MakeWindow("web-17", 1, "6.18.15");
  fleet_.Committed({window}, {{}}, absl::FromUnixNanos(kTestUnixNs),
                   absl::ZeroDuration());
  Start(&desk_);
  v1::GetVerdictRequest request;
  request.set_id(1);
  v1::VerdictExplanation answer;
  ASSERT_TRUE(stub_->GetVerdict(Context().get(), request, &answer).ok());
  EXPECT_EQ(answer.verdict().record().kernel_new(), "6.18.15");
  EXPECT_EQ(answer.incident().id(), 1);
  EXPECT_EQ(answer.pair().hosts_upgraded(), 132);
  ASSERT_EQ(answer.exemplars_size(), 1);
  EXPECT_EQ(answer.exemplars(0).host_id(), "web-17");
  EXPECT_EQ(answer.history_size(), 0);
  request.set_with_history(true);
  ASSERT_TRUE(stub_->GetVerdict(Context().get(), request, &answer).ok());
  EXPECT_EQ(answer.history_size(), 1);

  request.set_id(99);
  const grpc::Status none =
      stub_->GetVerdict(Context().get(), request, &answer);
  EXPECT_EQ(none.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(none.error_message(), "there is no verdict 99");
}

TEST_F(VerdictServiceTest, ActsInTheNameGivenWhereNobodyHasACredential) {
  Start(&desk_);
  v1::AcknowledgeVerdictRequest request;
  request.set_id(1);
  request.set_by("ann\n");
  request.set_reason("rolled back");
  v1::StoredVerdict verdict;
  ASSERT_TRUE(
      stub_->AcknowledgeVerdict(Context().get(), request, &verdict).ok());
  EXPECT_EQ(verdict.mark().state(), v1::VERDICT_STATE_ACKNOWLEDGED);
  EXPECT_EQ(verdict.mark().by(), "ann?");
  EXPECT_EQ(verdict.mark().reason(), "rolled back");
  EXPECT_FALSE(verdict.alerts());

  v1::ReopenVerdictRequest reopen;
  reopen.set_id(1);
  ASSERT_TRUE(stub_->ReopenVerdict(Context().get(), reopen, &verdict).ok());
  EXPECT_EQ(verdict.mark().state(), v1::VERDICT_STATE_NEW);
  EXPECT_TRUE(verdict.alerts());

  request.set_id(99);
  EXPECT_EQ(stub_->AcknowledgeVerdict(Context().get(), request, &verdict)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::SuppressVerdictRequest suppress;
  suppress.set_id(1);
  EXPECT_EQ(
      stub_->SuppressVerdict(Context().get(), suppress, &verdict).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(VerdictServiceTest, OnlyAnOperatorActsAndInItsOwnName) {
  std::string folder = ::testing::TempDir() + "/verdicts.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  AccessOptions options;
  options.reader_tokens = folder + "/readers";
  options.operator_tokens = folder + "/operators";
  ASSERT_TRUE(ReplaceFile(options.reader_tokens,
                          std::string("ops ") + kReader + "\n", 0600)
                  .ok());
  ASSERT_TRUE(ReplaceFile(options.operator_tokens,
                          std::string("oncall ") + kOperator + "\n", 0600)
                  .ok());
  Start(&desk_, options);
  v1::SuppressVerdictRequest request;
  request.set_id(1);
  request.set_by("somebody else");
  request.set_reason("known");
  request.set_until_unix_ns(kTestUnixNs + 1'000'000'000);
  v1::StoredVerdict verdict;
  const auto code = [&](const std::string& token) {
    return stub_->SuppressVerdict(Context(token).get(), request, &verdict)
        .error_code();
  };
  EXPECT_EQ(code(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code(kReader), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(FindVerdict(*desk_.Book(), 1)->mark.state, VerdictState::kNew);
  EXPECT_EQ(code(kOperator), grpc::StatusCode::OK);
  EXPECT_EQ(verdict.mark().by(), "oncall");
  EXPECT_EQ(verdict.mark().until_unix_ns(), kTestUnixNs + 1'000'000'000);

  v1::VerdictBook book;
  EXPECT_EQ(stub_->ListVerdicts(Context().get(), {}, &book).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(stub_->ListVerdicts(Context(kReader).get(), {}, &book).ok());
  EXPECT_TRUE(stub_->ListVerdicts(Context(kOperator).get(), {}, &book).ok());
}

TEST_F(VerdictServiceTest, ComparesOnePairAtATime) {
  SlowDesk desk;
  Start(&desk);
  v1::CompareKernelsRequest request;
  request.set_kernel_base("6.12.57");
  request.set_kernel_new("6.18.15");
  v1::KernelComparison first;
  grpc::Status first_status;
  std::thread asks([&] {
    first_status = stub_->CompareKernels(Context().get(), request, &first);
  });
  desk.began.WaitForNotification();
  v1::KernelComparison second;
  EXPECT_EQ(
      stub_->CompareKernels(Context().get(), request, &second).error_code(),
      grpc::StatusCode::UNAVAILABLE);
  desk.go_on.Notify();
  asks.join();
  EXPECT_TRUE(first_status.ok());
  EXPECT_EQ(first.verdicts_size(), 4);
}

TEST_F(VerdictServiceTest, KernelsThatNobodyRanAreNotFound) {
  Start(&desk_);
  v1::CompareKernelsRequest request;
  request.set_kernel_base("1.0");
  v1::KernelComparison reply;
  EXPECT_EQ(
      stub_->CompareKernels(Context().get(), request, &reply).error_code(),
      grpc::StatusCode::NOT_FOUND);
}

TEST(VerdictsJsonTest, NumbersThatDoNotExistAreNotZero) {
  const std::string json = VerdictsJson(TestBook(), "all of it a replay");
  EXPECT_THAT(json, HasSubstr("\"kind\":\"VERDICT_KIND_REGRESSION\""));
  EXPECT_THAT(json, HasSubstr("\"state\":\"VERDICT_STATE_SUPPRESSED\""));
  EXPECT_THAT(json, HasSubstr("\"detectable_ratio\":\"NaN\""));
  EXPECT_THAT(json, HasSubstr("\"replay\":\"all of it a replay\""));
}

}  // namespace
}  // namespace swaplock
