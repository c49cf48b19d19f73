#include "server/admission/server_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <array>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/log.h"
#include "common/secret_file.h"

namespace swaplock {
namespace {

// The files as they were when they were last looked at.
using Stamps = std::array<FileStamp, 3>;

Stamps StampsOf(const TlsFiles& files) {
  return {FileStamp::Of(files.ca), FileStamp::Of(files.certificate),
          FileStamp::Of(files.key)};
}

class WatchedFiles {
 public:
  explicit WatchedFiles(TlsFiles files) : files_(std::move(files)) {}

  // gRPC's fetcher; `config` becomes gRPC's.
  grpc_ssl_certificate_config_reload_status Fetch(
      grpc_ssl_server_certificate_config** config) {
    absl::MutexLock lock(&mutex_);
    const Stamps stamps = StampsOf(files_);
    if (seen_ == stamps) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    seen_ = stamps;
    const absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
    // One that is replaced while it is read is read again.
    if (StampsOf(files_) != stamps) seen_.reset();
    if (!material.ok()) {
      static LogSite site(absl::Seconds(10));
      site.Log(LogLevel::kWarning,
               absl::StrCat("tls: goes on with the certificate it has: ",
                            material.status().message()));
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    }
    const grpc_ssl_pem_key_cert_pair pair = {material->key.c_str(),
                                             material->certificate.c_str()};
    *config = grpc_ssl_server_certificate_config_create(material->ca.c_str(),
                                                        &pair, 1);
    Log(LogLevel::kInfo,
        absl::StrCat("tls: serves the certificate in ", files_.certificate));
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

 private:
  const TlsFiles files_;
  absl::Mutex mutex_;
  std::optional<Stamps> seen_ ABSL_GUARDED_BY(mutex_);
};

grpc_ssl_certificate_config_reload_status FetchFrom(
    void* watched, grpc_ssl_server_certificate_config** config) {
  return static_cast<WatchedFiles*>(watched)->Fetch(config);
}

// grpc::SslServerCredentials takes no fetcher; the core below it does.
class FetchingCredentials final : public grpc::ServerCredentials {
 public:
  explicit FetchingCredentials(const ServerTls& tls)
      : watched_(tls.files),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                tls.certificate_optional
                    ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                    : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
                FetchFrom, &watched_))) {}
  ~FetchingCredentials() override {
    grpc_server_credentials_release(credentials_);
  }

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  WatchedFiles watched_;
  grpc_server_credentials* const credentials_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const ServerTls& tls) {
  if (tls.files.empty()) return grpc::InsecureServerCredentials();
  const absl::StatusOr<TlsMaterial> material = ReadTlsFiles(tls.files);
  if (!material.ok()) return material.status();
  if (material->certificate.empty()) {
    return absl::FailedPreconditionError(
        "a server needs a certificate and its key");
  }
  return std::make_shared<FetchingCredentials>(tls);
}

}  // namespace swaplock
