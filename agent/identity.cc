#include "agent/identity.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace swaplock {
namespace {

constexpr absl::string_view kPurpose = "swaplock host id";

bool IsHex(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

std::string FirstLine(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

}  // namespace

std::string HostIdOf(absl::string_view secret) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(kPurpose.data()), kPurpose.size(),
       digest, &size);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), 16));
}

std::string LocalHostId(const std::string& machine_id_path) {
  const std::string machine_id = FirstLine(machine_id_path);
  if (machine_id.size() == 32 && IsHex(machine_id)) return HostIdOf(machine_id);
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return HostIdOf(absl::StrCat("host name ", name));
}

absl::StatusOr<std::string> ParseBootId(absl::string_view text) {
  const std::string hex =
      absl::StrReplaceAll(absl::StripAsciiWhitespace(text), {{"-", ""}});
  if (hex.size() != 32 || !IsHex(hex)) {
    return absl::InvalidArgumentError(
        absl::StrCat("parse boot id \"", absl::CHexEscape(text), "\""));
  }
  return absl::HexStringToBytes(hex);
}

absl::StatusOr<std::string> LocalBootId() {
  return ParseBootId(FirstLine("/proc/sys/kernel/random/boot_id"));
}

}  // namespace swaplock
