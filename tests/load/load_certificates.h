// Certificates of a simulated site: a CA, the server's, one for each host and a
// reader's; or none at all, then everything is plaintext.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_CERTIFICATES_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_CERTIFICATES_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/certs/certificate_maker.h"

namespace swaplock {

class LoadCertificates {
 public:
  // Plaintext.
  LoadCertificates() = default;
  // Writes the server's files into `folder`.
  static absl::StatusOr<LoadCertificates> Make(const std::string& folder);

  // The server's flags.
  std::vector<std::string> ServerFlags() const;
  std::shared_ptr<grpc::ChannelCredentials> Host(const std::string& id) const;
  std::shared_ptr<grpc::ChannelCredentials> Reader() const;

 private:
  std::shared_ptr<grpc::ChannelCredentials> Client(
      const std::string& uri) const;

  std::string folder_;
  std::optional<CertificateMaker> maker_;  // nothing: plaintext
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_CERTIFICATES_H_
