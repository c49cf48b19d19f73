// The three files of one side of a TLS connection, and what must be true of
// them before they are used: so that a wrong one is a sentence at once and not
// a handshake that fails later without saying why.
#ifndef SWAPLOCK_COMMON_TLS_FILES_H_
#define SWAPLOCK_COMMON_TLS_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

struct TlsFiles {
  std::string ca;           // PEM: certificates that sign the other side's
  std::string certificate;  // PEM: our own, then those between it and the CA
  std::string key;          // PEM, mode 0600

  bool empty() const {
    return ca.empty() && certificate.empty() && key.empty();
  }
};

// The files' contents.
struct TlsMaterial {
  std::string ca;
  std::string certificate;  // empty when there is none
  std::string key;
};

// Reads what is named. `ca` is needed, the other two come together or not at
// all. FailedPrecondition or NotFound in one sentence that names the file: it
// cannot be read, has no certificate in it, is not the certificate's key, or
// others can read the key.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// The URIs among the subject alternative names of the first certificate.
absl::StatusOr<std::vector<std::string>> UriNames(absl::string_view pem);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_TLS_FILES_H_
