#include "common/channel.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/secret_file.h"

namespace swaplock {
namespace {

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSecretFile(path);
  if (!text.ok()) return text.status();
  const std::string token(
      absl::StripAsciiWhitespace(text->substr(0, text->find('\n'))));
  const bool fits = !token.empty() && token.size() <= 1024 &&
                    std::all_of(token.begin(), token.end(), [](char c) {
                      return absl::ascii_isgraph(static_cast<unsigned char>(c));
                    });
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": its first line is not a token of 1 to 1024 ASCII characters"));
  }
  return token;
}

}  // namespace

bool IsLoopbackServer(absl::string_view server) {
  const size_t colon = server.rfind(':');
  const std::string host(server.substr(0, colon));
  in_addr ipv4 = {};
  if (inet_pton(AF_INET, host.c_str(), &ipv4) == 1) {
    return absl::StartsWith(host, "127.");
  }
  return host == "localhost" || host == "[::1]" ||
         absl::StartsWith(server, "unix:");
}

absl::Status CheckIdentity(const ChannelIdentity& identity,
                           absl::string_view server) {
  if (!identity.tls.empty()) {
    if (auto read = ReadTlsFiles(identity.tls); !read.ok()) {
      return read.status();
    }
  } else if (!identity.token_file.empty() && !IsLoopbackServer(server)) {
    return absl::FailedPreconditionError(
        absl::StrCat("a token would reach ", server,
                     " in plaintext, where others can read it: use TLS, or a "
                     "server on a loopback address"));
  }
  if (identity.token_file.empty()) return absl::OkStatus();
  return ReadToken(identity.token_file).status();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ChannelIdentity& identity, grpc::ChannelArguments* arguments) {
  if (identity.tls.empty()) return grpc::InsecureChannelCredentials();
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(identity.tls);
  if (!material.ok()) return material.status();
  if (!identity.server_name.empty()) {
    arguments->SetSslTargetNameOverride(identity.server_name);
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = std::move(material->ca);
  options.pem_cert_chain = std::move(material->certificate);
  options.pem_private_key = std::move(material->key);
  return grpc::SslCredentials(options);
}

absl::Status AddToken(const ChannelIdentity& identity,
                      grpc::ClientContext* context) {
  if (identity.token_file.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> token = ReadToken(identity.token_file);
  if (!token.ok()) return token.status();
  context->AddMetadata("authorization", absl::StrCat("Bearer ", *token));
  return absl::OkStatus();
}

}  // namespace swaplock
