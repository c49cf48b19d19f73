// Who may do what: a host reports for itself, a reader asks, an operator asks,
// says what is to become of verdicts and how his hosts measure. Decided by the
// certificate of the connection, else by a token, else, where the server was
// told of neither, by being on this machine.
//
// Thread-safe. The files are looked at again at each question, so that a host
// whose line is taken away is refused with its next window.
#ifndef SWAPLOCK_SERVER_ADMISSION_ACCESS_H_
#define SWAPLOCK_SERVER_ADMISSION_ACCESS_H_

#include <grpcpp/server_context.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/secret_file.h"
#include "server/admission/token_file.h"

namespace swaplock {

struct AccessOptions {
  bool tls = false;  // of the gRPC port
  std::string trust_domain = "swaplock";
  // Paths; empty: none. One host id a line; who is not in it is refused.
  std::string hosts_file;
  // See token_file.h. With reader_tokens also the HTTP port asks for one.
  std::string host_tokens;
  std::string reader_tokens;
  // One operator a line, "NAME HOSTS...": names or patterns with * and ? of the
  // hosts that are his. Empty: there are no operators.
  std::string operators_file;
  std::string operator_tokens;
};

// What a call shows of its peer.
struct Peer {
  bool certificate = false;       // and it was verified
  std::vector<std::string> uris;  // in it
  std::string token;              // empty: none

  static Peer Of(const grpc::ServerContextBase& context);
};

class Access {
 public:
  // Opens the files: what is wrong with one of them in one sentence.
  static absl::StatusOr<std::unique_ptr<Access>> Open(AccessOptions options);

  // OK, or why not: Unauthenticated when the peer shows nothing that is known,
  // PermissionDenied when it is somebody else or not allowed.
  absl::Status MayReport(const Peer& peer, absl::string_view host_id);
  absl::Status MayRead(const Peer& peer);
  // Whose act it is: the name in the certificate or of the token; empty where
  // nobody needs one.
  absl::StatusOr<std::string> MayOperate(const Peer& peer);
  // Also on this machine only who shows that he is an operator.
  absl::Status MaySteer(const Peer& peer, const std::string& host_id);
  // By the Authorization header, empty when there is none. A certificate does
  // not come this way.
  bool MayReadHttp(absl::string_view authorization);

 private:
  explicit Access(AccessOptions options) : options_(std::move(options)) {}
  absl::Status IsListed(absl::string_view host_id);
  static std::optional<std::string> OwnerOf(TokenFile* file,
                                            absl::string_view token);
  absl::Status ReadHosts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AccessOptions options_;
  std::unique_ptr<TokenFile> host_tokens_;      // null: none
  std::unique_ptr<TokenFile> reader_tokens_;    // null: none
  std::unique_ptr<TokenFile> operator_tokens_;  // null: none
  absl::Mutex mutex_;
  FileStamp hosts_seen_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> hosts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_ACCESS_H_
