#include "cli/query/admin_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "proto/admin.grpc.pb.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);

}  // namespace

absl::StatusOr<v1::DeepDiveReply> AskForDeepDive(
    const std::string& server, const ChannelIdentity& identity,
    const v1::DeepDiveRequest& request) {
  if (absl::Status s = CheckIdentity(identity, server); !s.ok()) return s;
  grpc::ChannelArguments args;
  const auto credentials = MakeCredentials(identity, &args);
  if (!credentials.ok()) return credentials.status();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  if (absl::Status s = AddToken(identity, &context); !s.ok()) return s;
  const auto stub =
      v1::Admin::NewStub(grpc::CreateCustomChannel(server, *credentials, args));
  v1::DeepDiveReply reply;
  const grpc::Status status = stub->DeepDive(&context, request, &reply);
  if (status.ok()) return reply;
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat("ask server ", server, ": ", status.error_message()));
}

}  // namespace swaplock
