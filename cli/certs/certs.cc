#include "cli/certs/certs.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/certs/certificate_maker.h"
#include "common/plain_text.h"
#include "common/secret_file.h"
#include "common/spiffe_id.h"

namespace swaplock {
namespace {

constexpr int kAuthorityDays = 3650;
constexpr int kLeafDays = 397;
// Clocks of a fleet differ.
constexpr absl::Duration kBackdated = absl::Hours(1);

constexpr char kForms[] =
    "certs ca, certs server NAME..., certs host NAME, certs reader NAME or "
    "certs operator NAME";

bool IsAddress(const std::string& text) {
  unsigned char raw[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), raw) == 1 ||
         inet_pton(AF_INET6, text.c_str(), raw) == 1;
}

bool IsDnsName(absl::string_view text) {
  return !text.empty() && text.size() <= 253 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '.' || c == '-' || c == '_';
         });
}

// The key first: a server that reads in between keeps the pair it has.
absl::Status Write(const KeyPair& pair, const std::string& base) {
  absl::Status s = ReplaceFile(absl::StrCat(base, ".key"), pair.key, 0600);
  if (!s.ok()) return s;
  return ReplaceFile(absl::StrCat(base, ".crt"), pair.certificate, 0644);
}

absl::StatusOr<std::string> MakeAuthority(const CertsRequest& request) {
  const std::string base = absl::StrCat(request.folder, "/ca");
  for (const char* end : {".crt", ".key"}) {
    const std::string path = absl::StrCat(base, end);
    if (FileStamp::Of(path) != FileStamp()) {
      return absl::FailedPreconditionError(absl::StrCat(
          path,
          " is there already, and what it signed needs it: give another "
          "--dir for another CA"));
    }
  }
  const int days = request.days > 0 ? request.days : kAuthorityDays;
  absl::StatusOr<CertificateMaker> maker = CertificateMaker::NewAuthority(
      absl::StrCat("swaplock CA of ", request.domain.substr(0, 40)),
      request.now - kBackdated, request.now + days * absl::Hours(24));
  if (!maker.ok()) return maker.status();
  if (absl::Status s = Write(maker->authority(), base); !s.ok()) return s;
  return absl::StrCat(base, ".crt and ", base, ".key: a CA for ", days,
                      " days; its key signs, keep it off the hosts");
}

absl::StatusOr<CertificateMaker> ReadAuthority(const std::string& folder) {
  const std::string base = absl::StrCat(folder, "/ca");
  absl::StatusOr<std::string> certificate =
      ReadSmallFile(absl::StrCat(base, ".crt"));
  if (absl::IsNotFound(certificate.status())) {
    return absl::NotFoundError(absl::StrCat(certificate.status().message(),
                                            "; make the CA first: certs ca"));
  }
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ReadSecretFile(absl::StrCat(base, ".key"));
  if (!key.ok()) return key.status();
  absl::StatusOr<CertificateMaker> maker =
      CertificateMaker::FromPem({*std::move(certificate), *std::move(key)});
  if (maker.ok()) return maker;
  return absl::FailedPreconditionError(
      absl::StrCat(base, ".crt, ", base, ".key: ", maker.status().message()));
}

absl::StatusOr<CertificateRequest> ServerRequest(
    const std::vector<std::string>& words) {
  CertificateRequest out;
  out.server = true;
  out.common_name = "swaplock-server";
  for (size_t i = 1; i < words.size(); ++i) {
    if (IsAddress(words[i])) {
      out.addresses.push_back(words[i]);
    } else if (IsDnsName(words[i])) {
      out.dns_names.push_back(words[i]);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", PlainText(words[i], 300),
                       "\" is not a DNS name or an address"));
    }
  }
  if (words.size() < 2) {
    return absl::InvalidArgumentError(
        "certs server needs the names and addresses that agents connect to");
  }
  return out;
}

absl::StatusOr<CertificateRequest> PeerRequest(
    const std::vector<std::string>& words, const std::string& domain) {
  if (words.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("certs ", words[0], " needs one name"));
  }
  if (!IsSpiffeName(words[1])) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", PlainText(words[1], 300),
                     "\" is not 1 to 128 letters, digits, '.', '-' or '_'"));
  }
  CertificateRequest out;
  out.client = true;
  // A common name has at most 64 characters.
  out.common_name = absl::StrCat(words[0], " ", words[1]).substr(0, 64);
  PeerKind kind = PeerKind::kHost;
  if (words[0] == Name(PeerKind::kReader)) kind = PeerKind::kReader;
  if (words[0] == Name(PeerKind::kOperator)) kind = PeerKind::kOperator;
  out.uris = {SpiffeId{domain, kind, words[1]}.ToString()};
  return out;
}

}  // namespace

absl::StatusOr<std::string> MakeCerts(const std::vector<std::string>& words,
                                      const CertsRequest& request) {
  if (request.days < 0 || request.days > 36500) {
    return absl::InvalidArgumentError("--days is 1 to 36500");
  }
  if (!IsTrustDomain(request.domain)) {
    return absl::InvalidArgumentError(
        "--domain is 1 to 255 of a-z, 0-9, '.', '-' and '_'");
  }
  if (words.size() == 1 && words[0] == "ca") return MakeAuthority(request);
  absl::StatusOr<CertificateRequest> leaf =
      absl::InvalidArgumentError(absl::StrCat("it is ", kForms));
  std::string base = "server";
  if (!words.empty() && words[0] == "server") {
    leaf = ServerRequest(words);
  } else if (!words.empty() && (words[0] == "host" || words[0] == "reader" ||
                                words[0] == "operator")) {
    leaf = PeerRequest(words, request.domain);
    if (leaf.ok()) base = absl::StrCat(words[0], "-", words[1]);
  }
  if (!leaf.ok()) return leaf.status();

  absl::StatusOr<CertificateMaker> maker = ReadAuthority(request.folder);
  if (!maker.ok()) return maker.status();
  const int days = request.days > 0 ? request.days : kLeafDays;
  leaf->not_before = request.now - kBackdated;
  leaf->not_after = request.now + days * absl::Hours(24);
  absl::StatusOr<KeyPair> pair = maker->Issue(*leaf);
  if (!pair.ok()) return pair.status();
  base = absl::StrCat(request.folder, "/", base);
  if (absl::Status s = Write(*pair, base); !s.ok()) return s;
  return absl::StrCat(base, ".crt and ", base, ".key: for ", days, " days",
                      leaf->uris.empty() ? "" : ", named ",
                      leaf->uris.empty() ? "" : leaf->uris[0]);
}

}  // namespace swaplock
