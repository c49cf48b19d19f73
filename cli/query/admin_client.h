// Asks a server, as an operator, to have one host measure closer, or to take
// its windows again.
#ifndef SWAPLOCK_CLI_QUERY_ADMIN_CLIENT_H_
#define SWAPLOCK_CLI_QUERY_ADMIN_CLIENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/channel.h"
#include "proto/admin.pb.h"

namespace swaplock {

// `server` is host:port of its gRPC side. An answer that takes longer than ten
// seconds is an error.
absl::StatusOr<v1::DeepDiveReply> AskForDeepDive(
    const std::string& server, const ChannelIdentity& identity,
    const v1::DeepDiveRequest& request);
absl::StatusOr<v1::ReleaseReply> AskForRelease(
    const std::string& server, const ChannelIdentity& identity,
    const v1::ReleaseRequest& request);

// Says on stderr why the server did not do it; the exit status for that:
// kExitUsage for what it does not take, kExitConfig for what it does not allow,
// else kExitUnavailable.
int AdminFailed(const char* subcommand, const absl::Status& status);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_ADMIN_CLIENT_H_
