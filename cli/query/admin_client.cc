#include "cli/query/admin_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "common/command_line.h"
#include "common/plain_text.h"
#include "proto/admin.grpc.pb.h"

namespace swaplock {
namespace {

constexpr std::chrono::seconds kPatience(10);

template <typename Request, typename Reply>
absl::StatusOr<Reply> Ask(const std::string& server,
                          const ChannelIdentity& identity,
                          const Request& request,
                          grpc::Status (v1::Admin::Stub::*method)(
                              grpc::ClientContext*, const Request&, Reply*)) {
  if (absl::Status s = CheckIdentity(identity, server); !s.ok()) return s;
  grpc::ChannelArguments args;
  const auto credentials = MakeCredentials(identity, &args);
  if (!credentials.ok()) return credentials.status();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  if (absl::Status s = AddToken(identity, &context); !s.ok()) return s;
  const auto stub =
      v1::Admin::NewStub(grpc::CreateCustomChannel(server, *credentials, args));
  Reply reply;
  const grpc::Status status = (stub.get()->*method)(&context, request, &reply);
  if (status.ok()) return reply;
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat("ask server ", server, ": ", status.error_message()));
}

}  // namespace

absl::StatusOr<v1::DeepDiveReply> AskForDeepDive(
    const std::string& server, const ChannelIdentity& identity,
    const v1::DeepDiveRequest& request) {
  return Ask(server, identity, request, &v1::Admin::Stub::DeepDive);
}

absl::StatusOr<v1::ReleaseReply> AskForRelease(
    const std::string& server, const ChannelIdentity& identity,
    const v1::ReleaseRequest& request) {
  return Ask(server, identity, request, &v1::Admin::Stub::Release);
}

int AdminFailed(const char* subcommand, const absl::Status& status) {
  std::fprintf(stderr, "swaplock: %s: %s\n", subcommand,
               PlainText(status.message(), 400).c_str());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
      return kExitConfig;
    default:
      return kExitUnavailable;
  }
}

}  // namespace swaplock
