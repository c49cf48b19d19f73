#include "cli/query/query_client.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);
// Ten thousand hosts are judged in seconds, read from a slow disk in minutes.
constexpr std::chrono::seconds kPatienceToCompare(300);
// A fleet of ten thousand hosts with their coverage.
constexpr int kMaxAnswerBytes = 256 << 20;

absl::Status ToStatus(const grpc::Status& status, const std::string& server) {
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat("ask server ", server, ": ", status.error_message()));
}

}  // namespace

QueryClient::QueryClient(std::string server, ChannelIdentity identity,
                         const std::shared_ptr<grpc::Channel>& channel)
    : server_(std::move(server)),
      identity_(std::move(identity)),
      stub_(v1::Query::NewStub(channel)),
      verdicts_(v1::Verdicts::NewStub(channel)) {}

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

template <typename Reply, typename Stub, typename Request>
absl::StatusOr<Reply> QueryClient::Call(
    Stub* stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
    const Request& request, std::chrono::seconds patience) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  if (absl::Status s = AddToken(identity_, &context); !s.ok()) return s;
  Reply reply;
  const grpc::Status status = (stub->*method)(&context, request, &reply);
  if (!status.ok()) return ToStatus(status, server_);
  return reply;
}

absl::StatusOr<v1::Fleet> QueryClient::GetFleet(
    const std::string& kernel_release) {
  v1::GetFleetRequest request;
  request.set_kernel_release(kernel_release);
  return Call(stub_.get(), &v1::Query::Stub::GetFleet, request, kPatience);
}

absl::StatusOr<v1::VerdictBook> QueryClient::ListVerdicts(
    const v1::ListVerdictsRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::ListVerdicts, request,
              kPatience);
}

absl::StatusOr<v1::VerdictExplanation> QueryClient::GetVerdict(
    const v1::GetVerdictRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::GetVerdict, request,
              kPatience);
}

absl::StatusOr<v1::StoredVerdict> QueryClient::Acknowledge(
    const v1::AcknowledgeVerdictRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::AcknowledgeVerdict, request,
              kPatience);
}

absl::StatusOr<v1::StoredVerdict> QueryClient::Suppress(
    const v1::SuppressVerdictRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::SuppressVerdict, request,
              kPatience);
}

absl::StatusOr<v1::StoredVerdict> QueryClient::Reopen(
    const v1::ReopenVerdictRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::ReopenVerdict, request,
              kPatience);
}

absl::StatusOr<v1::KernelComparison> QueryClient::CompareKernels(
    const v1::CompareKernelsRequest& request) {
  return Call(verdicts_.get(), &v1::Verdicts::Stub::CompareKernels, request,
              kPatienceToCompare);
}

}  // namespace swaplock
