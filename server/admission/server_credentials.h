// The server's side of TLS, from files that may be replaced while it runs.
//
// gRPC asks for the certificate before each handshake; the files are read again
// when one of them changed. Files that do not fit together, as between two
// renames, change nothing: the pair in use stays, and a warning says so.
// Streams that are open stay open.
//
// gRPC's own TlsServerCredentials with its file watcher are not used: they poll
// by the second, and take a new key together with an old certificate.
#ifndef SWAPLOCK_SERVER_ADMISSION_SERVER_CREDENTIALS_H_
#define SWAPLOCK_SERVER_ADMISSION_SERVER_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "common/tls_files.h"

namespace swaplock {

struct ServerTls {
  TlsFiles files;  // empty: plaintext
  // Whether a peer without a certificate is let in, to show a token instead. A
  // certificate that is shown must always be good.
  bool certificate_optional = false;
};

// What ReadTlsFiles says when the files cannot be used now.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const ServerTls& tls);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_SERVER_CREDENTIALS_H_
