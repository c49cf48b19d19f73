#include "tests/load/load_certificates.h"

#include <utility>

#include "absl/time/clock.h"
#include "common/secret_file.h"
#include "common/spiffe_id.h"

namespace swaplock {
namespace {

CertificateRequest ValidToday(const std::string& name) {
  CertificateRequest request;
  request.common_name = name;
  request.not_before = absl::Now() - absl::Hours(1);
  request.not_after = absl::Now() + absl::Hours(24);
  return request;
}

}  // namespace

absl::StatusOr<LoadCertificates> LoadCertificates::Make(
    const std::string& folder) {
  const CertificateRequest today = ValidToday("");
  auto maker = CertificateMaker::NewAuthority("load test", today.not_before,
                                              today.not_after);
  if (!maker.ok()) return maker.status();
  CertificateRequest request = ValidToday("server");
  request.server = true;
  request.addresses = {"127.0.0.1"};
  const absl::StatusOr<KeyPair> server = maker->Issue(request);
  if (!server.ok()) return server.status();
  for (const absl::Status& status : {
           ReplaceFile(folder + "/ca.crt", maker->authority().certificate,
                       0644),
           ReplaceFile(folder + "/server.crt", server->certificate, 0644),
           ReplaceFile(folder + "/server.key", server->key, 0600),
       }) {
    if (!status.ok()) return status;
  }
  LoadCertificates certificates;
  certificates.folder_ = folder;
  certificates.maker_ = *std::move(maker);
  return certificates;
}

std::vector<std::string> LoadCertificates::ServerFlags() const {
  if (!maker_.has_value()) return {};
  return {"--tls_ca=" + folder_ + "/ca.crt",
          "--tls_cert=" + folder_ + "/server.crt",
          "--tls_key=" + folder_ + "/server.key"};
}

std::shared_ptr<grpc::ChannelCredentials> LoadCertificates::Client(
    const std::string& uri) const {
  if (!maker_.has_value()) return grpc::InsecureChannelCredentials();
  CertificateRequest request = ValidToday("client");
  request.client = true;
  request.uris = {uri};
  const absl::StatusOr<KeyPair> pair = maker_->Issue(request);
  // Without a certificate the server refuses it, which the run then shows.
  if (!pair.ok()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = maker_->authority().certificate;
  options.pem_cert_chain = pair->certificate;
  options.pem_private_key = pair->key;
  return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> LoadCertificates::Host(
    const std::string& id) const {
  return Client(SpiffeId{"swaplock", PeerKind::kHost, id}.ToString());
}

std::shared_ptr<grpc::ChannelCredentials> LoadCertificates::Reader() const {
  return Client(SpiffeId{"swaplock", PeerKind::kReader, "load"}.ToString());
}

}  // namespace swaplock
