#include "cli/query/query_client.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);
// A fleet of ten thousand hosts with their coverage.
constexpr int kMaxAnswerBytes = 256 << 20;

absl::Status ToStatus(const grpc::Status& status, const std::string& server) {
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat("ask server ", server, ": ", status.error_message()));
}

}  // namespace

QueryClient::QueryClient(std::string server, ChannelIdentity identity,
                         std::shared_ptr<grpc::Channel> channel)
    : server_(std::move(server)),
      identity_(std::move(identity)),
      stub_(v1::Query::NewStub(std::move(channel))) {}

absl::StatusOr<QueryClient> QueryClient::Connect(
    const std::string& server, const ChannelIdentity& identity) {
  if (absl::Status s = CheckIdentity(identity, server); !s.ok()) return s;
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  auto credentials = MakeCredentials(identity, &args);
  if (!credentials.ok()) return credentials.status();
  return QueryClient(server, identity,
                     grpc::CreateCustomChannel(server, *credentials, args));
}

absl::Status QueryClient::Prepare(grpc::ClientContext* context) const {
  context->set_deadline(std::chrono::system_clock::now() + kPatience);
  return AddToken(identity_, context);
}

absl::StatusOr<v1::Fleet> QueryClient::GetFleet(
    const std::string& kernel_release) {
  grpc::ClientContext context;
  if (absl::Status s = Prepare(&context); !s.ok()) return s;
  v1::GetFleetRequest request;
  request.set_kernel_release(kernel_release);
  v1::Fleet fleet;
  const grpc::Status status = stub_->GetFleet(&context, request, &fleet);
  if (!status.ok()) return ToStatus(status, server_);
  return fleet;
}

absl::StatusOr<v1::VerdictList> QueryClient::ListVerdicts() {
  grpc::ClientContext context;
  if (absl::Status s = Prepare(&context); !s.ok()) return s;
  v1::VerdictList verdicts;
  const grpc::Status status = stub_->ListVerdicts(&context, {}, &verdicts);
  if (!status.ok()) return ToStatus(status, server_);
  return verdicts;
}

}  // namespace swaplock
