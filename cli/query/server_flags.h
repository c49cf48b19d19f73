// The flags of every subcommand that asks a server: where it is, and who we
// are.
#ifndef SWAPLOCK_CLI_QUERY_SERVER_FLAGS_H_
#define SWAPLOCK_CLI_QUERY_SERVER_FLAGS_H_

#include <string>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "cli/query/query_client.h"
#include "common/channel.h"

ABSL_DECLARE_FLAG(std::string, server);  // host:port of its gRPC side

namespace swaplock {

// Who we are.
ChannelIdentity IdentityAsFlagsSay();

// InvalidArgument or FailedPrecondition, in one sentence, for flags or files
// that cannot be used. It does not wait for the server to answer.
absl::StatusOr<QueryClient> ConnectAsFlagsSay();

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_SERVER_FLAGS_H_
