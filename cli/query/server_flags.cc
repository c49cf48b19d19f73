#include "cli/query/server_flags.h"

#include "absl/flags/flag.h"

ABSL_FLAG(std::string, server, "127.0.0.1:7787",
          "host:port of the server's gRPC side");
ABSL_FLAG(std::string, tls_ca, "",
          "certificate of the CA that signed the server's; empty: plaintext");
ABSL_FLAG(std::string, tls_cert, "",
          "our certificate, of a reader or an operator");
ABSL_FLAG(std::string, tls_key, "", "its key");
ABSL_FLAG(std::string, tls_server_name, "",
          "name in the server's certificate, if it is not that of --server");
ABSL_FLAG(std::string, token_file, "",
          "file with the token of a reader or an operator, for a server that "
          "wants one");

namespace swaplock {

ChannelIdentity IdentityAsFlagsSay() {
  ChannelIdentity identity;
  identity.tls = {absl::GetFlag(FLAGS_tls_ca), absl::GetFlag(FLAGS_tls_cert),
                  absl::GetFlag(FLAGS_tls_key)};
  identity.server_name = absl::GetFlag(FLAGS_tls_server_name);
  identity.token_file = absl::GetFlag(FLAGS_token_file);
  return identity;
}

absl::StatusOr<QueryClient> ConnectAsFlagsSay() {
  return QueryClient::Connect(absl::GetFlag(FLAGS_server),
                              IdentityAsFlagsSay());
}

}  // namespace swaplock
