#include "common/spiffe_id.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr absl::string_view kScheme = "spiffe://";

bool IsPunctuation(char c) { return c == '.' || c == '-' || c == '_'; }

}  // namespace

absl::string_view Name(PeerKind kind) {
  switch (kind) {
    case PeerKind::kHost:
      return "host";
    case PeerKind::kReader:
      return "reader";
    case PeerKind::kOperator:
      break;
  }
  return "operator";
}

std::string SpiffeId::ToString() const {
  return absl::StrCat(kScheme, domain, "/", Name(kind), "/", name);
}

bool IsTrustDomain(absl::string_view text) {
  return !text.empty() && text.size() <= 255 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_islower(static_cast<unsigned char>(c)) ||
                  absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
                  IsPunctuation(c);
         });
}

bool IsSpiffeName(absl::string_view text) {
  return !text.empty() && text.size() <= 128 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  IsPunctuation(c);
         });
}

absl::StatusOr<SpiffeId> ParseSpiffeId(absl::string_view uri) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("\"", PlainText(uri, 200),
                   "\" is not spiffe://DOMAIN/host/NAME, "
                   "spiffe://DOMAIN/reader/NAME or "
                   "spiffe://DOMAIN/operator/NAME"));
  if (!absl::StartsWith(uri, kScheme)) return bad;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(uri.substr(kScheme.size()), '/');
  if (parts.size() != 3 || !IsTrustDomain(parts[0]) ||
      !IsSpiffeName(parts[2])) {
    return bad;
  }
  for (const PeerKind kind :
       {PeerKind::kHost, PeerKind::kReader, PeerKind::kOperator}) {
    if (parts[1] == Name(kind)) {
      return SpiffeId{std::string(parts[0]), kind, std::string(parts[2])};
    }
  }
  return bad;
}

absl::StatusOr<SpiffeId> OnlySpiffeId(const std::vector<std::string>& uris) {
  if (uris.size() == 1) return ParseSpiffeId(uris[0]);
  return absl::InvalidArgumentError(
      absl::StrCat("the certificate names its owner by ", uris.size(),
                   " URIs; it must be one"));
}

}  // namespace swaplock
