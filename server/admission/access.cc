#include "server/admission/access.h"

#include <fnmatch.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/log.h"
#include "common/plain_text.h"
#include "common/spiffe_id.h"

namespace swaplock {
namespace {

// The property that gRPC's core gives each URI among the alternative names.
constexpr char kPeerUri[] = "peer_uri";

std::string Shown(absl::string_view text) { return PlainText(text, 128); }

// Who the certificate says it is, if it is of this domain and kind.
absl::StatusOr<SpiffeId> NamedBy(const Peer& peer, const std::string& domain,
                                 PeerKind kind) {
  absl::StatusOr<SpiffeId> id = OnlySpiffeId(peer.uris);
  if (!id.ok()) return absl::PermissionDeniedError(id.status().message());
  if (id->domain != domain) {
    return absl::PermissionDeniedError(
        absl::StrCat("the certificate is of trust domain ", id->domain,
                     ", this server's is ", domain));
  }
  if (id->kind != kind) {
    return absl::PermissionDeniedError(
        absl::StrCat("the certificate is of ", id->ToString(), ", not of ",
                     kind == PeerKind::kOperator ? "an " : "a ", Name(kind)));
  }
  return id;
}

}  // namespace

Peer Peer::Of(const grpc::ServerContextBase& context) {
  Peer out;
  const auto auth = context.auth_context();
  if (auth != nullptr) {
    for (const grpc::string_ref& uri : auth->FindPropertyValues(kPeerUri)) {
      out.uris.emplace_back(uri.data(), uri.size());
    }
    // Without a certificate there is no such property, and with TLS alone the
    // peer counts as anonymous.
    out.certificate = !auth->FindPropertyValues("x509_pem_cert").empty();
  }
  const auto& metadata = context.client_metadata();
  const auto it = metadata.find("authorization");
  if (it != metadata.end()) {
    out.token = TokenOf({it->second.data(), it->second.size()});
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Access>> Access::Open(AccessOptions options) {
  std::unique_ptr<Access> out(new Access(std::move(options)));
  if (!out->options_.host_tokens.empty()) {
    auto file = TokenFile::Open(out->options_.host_tokens);
    if (!file.ok()) return file.status();
    out->host_tokens_ = *std::move(file);
  }
  if (!out->options_.reader_tokens.empty()) {
    auto file = TokenFile::Open(out->options_.reader_tokens);
    if (!file.ok()) return file.status();
    out->reader_tokens_ = *std::move(file);
  }
  if (!out->options_.operator_tokens.empty()) {
    auto file = TokenFile::Open(out->options_.operator_tokens);
    if (!file.ok()) return file.status();
    out->operator_tokens_ = *std::move(file);
  }
  if (!out->options_.operators_file.empty()) {
    const auto text = ReadSmallFile(out->options_.operators_file);
    if (!text.ok()) return text.status();
  }
  if (!out->options_.hosts_file.empty()) {
    absl::MutexLock lock(&out->mutex_);
    out->hosts_seen_ = FileStamp::Of(out->options_.hosts_file);
    if (absl::Status s = out->ReadHosts(); !s.ok()) return s;
  }
  return out;
}

absl::Status Access::ReadHosts() {
  hosts_.clear();
  absl::StatusOr<std::string> text = ReadSmallFile(options_.hosts_file);
  if (!text.ok()) return text.status();
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty() && line[0] != '#') hosts_.emplace(line);
  }
  return absl::OkStatus();
}

absl::Status Access::IsListed(absl::string_view host_id) {
  if (options_.hosts_file.empty()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  const FileStamp stamp = FileStamp::Of(options_.hosts_file);
  if (stamp != hosts_seen_) {
    hosts_seen_ = stamp;
    if (absl::Status s = ReadHosts(); !s.ok()) {
      Log(LogLevel::kError,
          absl::StrCat("hosts: none is allowed: ", s.message()));
    }
  }
  if (hosts_.count(host_id) > 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "host ", Shown(host_id), " is not in the server's list of hosts"));
}

absl::Status Access::MayReport(const Peer& peer, absl::string_view host_id) {
  if (peer.certificate) {
    const absl::StatusOr<SpiffeId> id =
        NamedBy(peer, options_.trust_domain, PeerKind::kHost);
    if (!id.ok()) return id.status();
    if (id->name != host_id) {
      return absl::PermissionDeniedError(
          absl::StrCat("the certificate is of host ", id->name,
                       ", which cannot speak for host ", Shown(host_id)));
    }
    return IsListed(host_id);
  }
  if (host_tokens_ != nullptr) {
    if (peer.token.empty()) {
      return absl::UnauthenticatedError(
          "this server wants a host's certificate or its token");
    }
    const std::optional<std::string> owner = host_tokens_->OwnerOf(peer.token);
    if (!owner.has_value()) {
      return absl::UnauthenticatedError("the token is no host's");
    }
    if (*owner != host_id) {
      return absl::PermissionDeniedError(
          absl::StrCat("the token is not that of host ", Shown(host_id)));
    }
    return IsListed(host_id);
  }
  if (options_.tls) {
    return absl::UnauthenticatedError("this server wants a host's certificate");
  }
  return IsListed(host_id);
}

std::optional<std::string> Access::OwnerOf(TokenFile* file,
                                           absl::string_view token) {
  if (file == nullptr || token.empty()) return std::nullopt;
  return file->OwnerOf(token);
}

absl::Status Access::MayRead(const Peer& peer) {
  if (OwnerOf(reader_tokens_.get(), peer.token).has_value() ||
      OwnerOf(operator_tokens_.get(), peer.token).has_value()) {
    return absl::OkStatus();
  }
  if (peer.certificate) {
    if (NamedBy(peer, options_.trust_domain, PeerKind::kOperator).ok()) {
      return absl::OkStatus();
    }
    return NamedBy(peer, options_.trust_domain, PeerKind::kReader).status();
  }
  if (!options_.tls && reader_tokens_ == nullptr) return absl::OkStatus();
  return absl::UnauthenticatedError(
      peer.token.empty()
          ? "this server wants a reader's certificate or a reader's token"
          : "the token is no reader's");
}

absl::StatusOr<std::string> Access::MayOperate(const Peer& peer) {
  if (auto owner = OwnerOf(operator_tokens_.get(), peer.token);
      owner.has_value()) {
    return *std::move(owner);
  }
  if (peer.certificate) {
    absl::StatusOr<SpiffeId> id =
        NamedBy(peer, options_.trust_domain, PeerKind::kOperator);
    if (!id.ok()) return id.status();
    return id->name;
  }
  if (!options_.tls && reader_tokens_ == nullptr &&
      operator_tokens_ == nullptr) {
    return std::string();
  }
  if (OwnerOf(reader_tokens_.get(), peer.token).has_value()) {
    return absl::PermissionDeniedError(
        "the token is of a reader, not of an operator");
  }
  return absl::UnauthenticatedError(
      peer.token.empty()
          ? "this server wants an operator's certificate or an operator's token"
          : "the token is no operator's");
}

absl::Status Access::MaySteer(const Peer& peer, const std::string& host_id) {
  const absl::StatusOr<std::string> name = MayOperate(peer);
  if (!name.ok()) return name.status();
  if (name->empty()) {
    return absl::UnauthenticatedError(
        "this wants an operator's certificate or an operator's token");
  }
  if (options_.operators_file.empty()) {
    return absl::PermissionDeniedError(
        "this server was started without --operators, so hosts are nobody's");
  }
  // Read at each question, which are few.
  const absl::StatusOr<std::string> text =
      ReadSmallFile(options_.operators_file);
  if (!text.ok()) {
    Log(LogLevel::kError,
        absl::StrCat("operators: none is allowed: ", text.status().message()));
    return absl::PermissionDeniedError("the list of operators is unreadable");
  }
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty() || words[0] != *name) continue;
    for (size_t i = 1; i < words.size(); ++i) {
      if (fnmatch(words[i].c_str(), host_id.c_str(), 0) == 0) {
        return absl::OkStatus();
      }
    }
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "host ", Shown(host_id), " is not one of operator ", Shown(*name)));
}

bool Access::MayReadHttp(absl::string_view authorization) {
  if (reader_tokens_ == nullptr) return true;
  const std::string token = TokenOf(authorization);
  return OwnerOf(reader_tokens_.get(), token).has_value() ||
         OwnerOf(operator_tokens_.get(), token).has_value();
}

}  // namespace swaplock
