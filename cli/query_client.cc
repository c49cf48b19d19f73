#include "cli/query_client.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);
// A fleet of ten thousand hosts with their coverage.
constexpr int kMaxAnswerBytes = 256 << 20;

std::shared_ptr<grpc::Channel> Connect(const std::string& server) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(),
                                   args);
}

absl::Status ToStatus(const grpc::Status& status, const std::string& server) {
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat("ask server ", server, ": ", status.error_message()));
}

void SetDeadline(grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + kPatience);
}

}  // namespace

QueryClient::QueryClient(const std::string& server)
    : server_(server), stub_(v1::Query::NewStub(Connect(server))) {}

absl::StatusOr<v1::Fleet> QueryClient::GetFleet(
    const std::string& kernel_release) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::GetFleetRequest request;
  request.set_kernel_release(kernel_release);
  v1::Fleet fleet;
  const grpc::Status status = stub_->GetFleet(&context, request, &fleet);
  if (!status.ok()) return ToStatus(status, server_);
  return fleet;
}

absl::StatusOr<v1::VerdictList> QueryClient::ListVerdicts() {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::VerdictList verdicts;
  const grpc::Status status = stub_->ListVerdicts(&context, {}, &verdicts);
  if (!status.ok()) return ToStatus(status, server_);
  return verdicts;
}

}  // namespace swaplock
