// How agent and CLI reach a server: in plaintext, or over TLS with a
// certificate or a token that says who they are.
#ifndef SWAPLOCK_COMMON_CHANNEL_H_
#define SWAPLOCK_COMMON_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/tls_files.h"

namespace swaplock {

struct ChannelIdentity {
  TlsFiles tls;             // empty: plaintext
  std::string server_name;  // in the server's certificate; empty: as connected
  std::string token_file;   // its first line is the token; empty: none
};

// Whether the server of "host:port" is this machine by its loopback addresses.
bool IsLoopbackServer(absl::string_view server);

// What is wrong with an identity that is to be shown to `server`: files that
// cannot be used, or a token that would travel in plaintext to another machine.
absl::Status CheckIdentity(const ChannelIdentity& identity,
                           absl::string_view server);

// Reads the files as they are now, so whoever connects anew has the newest
// certificate. A token is not part of it; see AddToken.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ChannelIdentity& identity, grpc::ChannelArguments* arguments);

// Puts the token, if there is one, into the call's metadata.
absl::Status AddToken(const ChannelIdentity& identity,
                      grpc::ClientContext* context);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_CHANNEL_H_
