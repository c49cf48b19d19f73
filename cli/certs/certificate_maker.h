// Makes keys and X.509 certificates for a small site or a test: one CA, and
// what it signs. Keys are ECDSA P-256.
//
// It is for sites that have no such service of their own; what it makes are
// ordinary PEM files that any other CA could have made.
#ifndef SWAPLOCK_CLI_CERTS_CERTIFICATE_MAKER_H_
#define SWAPLOCK_CLI_CERTS_CERTIFICATE_MAKER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace swaplock {

struct KeyPair {
  std::string certificate;  // PEM
  std::string key;          // PEM, not encrypted
};

struct CertificateRequest {
  std::string common_name;  // for people; nobody is identified by it
  // Subject alternative names, at most 64 in all. Addresses are numeric.
  std::vector<std::string> uris;
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;
  bool server = false;  // may answer as a server
  bool client = false;  // may connect as a client
  absl::Time not_before;
  absl::Time not_after;
};

class CertificateMaker {
 public:
  // A new CA, signed by itself, which may sign only what is at the end of a
  // chain.
  static absl::StatusOr<CertificateMaker> NewAuthority(
      const std::string& common_name, absl::Time not_before,
      absl::Time not_after);
  // FailedPrecondition when the two are not a CA's certificate and its key.
  static absl::StatusOr<CertificateMaker> FromPem(const KeyPair& authority);

  const KeyPair& authority() const { return authority_; }

  // A new key and its certificate. InvalidArgument, in a sentence, for names
  // that a certificate cannot have.
  absl::StatusOr<KeyPair> Issue(const CertificateRequest& request) const;

 private:
  explicit CertificateMaker(KeyPair authority)
      : authority_(std::move(authority)) {}
  KeyPair authority_;
};

// A certificate that vouches for itself, which nobody should accept.
absl::StatusOr<KeyPair> MakeSelfSigned(const CertificateRequest& request);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_CERTS_CERTIFICATE_MAKER_H_
