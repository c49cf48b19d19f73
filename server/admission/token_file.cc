#include "server/admission/token_file.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/log.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMinBytes = 16;
constexpr size_t kMaxBytes = 512;
constexpr size_t kMaxAuthorization = 2048;

bool IsToken(absl::string_view text) {
  return text.size() >= kMinBytes && text.size() <= kMaxBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

}  // namespace

TokenFile::Digest TokenFile::DigestOf(absl::string_view token) {
  Digest out;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         out.data());
  return out;
}

absl::StatusOr<std::vector<TokenFile::Entry>> TokenFile::Parse(
    const std::string& path) {
  absl::StatusOr<std::string> text = ReadSecretFile(path);
  if (!text.ok()) return text.status();
  std::vector<Entry> out;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    // A token never goes into a message.
    if (words.size() != 2 || !IsPlainText(words[0]) || words[0].size() > 128 ||
        !IsToken(words[1])) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ", line ", number, ": it is not a name and a token of ",
          kMinBytes, " to ", kMaxBytes, " ASCII characters"));
    }
    out.push_back({std::string(words[0]), DigestOf(words[1])});
  }
  return out;
}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(std::string path) {
  std::unique_ptr<TokenFile> file(new TokenFile(std::move(path)));
  absl::MutexLock lock(&file->mutex_);
  file->seen_ = FileStamp::Of(file->path_);
  absl::StatusOr<std::vector<Entry>> entries = Parse(file->path_);
  if (!entries.ok()) return entries.status();
  file->entries_ = *std::move(entries);
  return file;
}

void TokenFile::ReadIfChanged() {
  const FileStamp stamp = FileStamp::Of(path_);
  if (stamp == seen_) return;
  seen_ = stamp;
  entries_.clear();
  absl::StatusOr<std::vector<Entry>> entries = Parse(path_);
  if (!entries.ok()) {
    Log(LogLevel::kError,
        absl::StrCat("tokens: none is valid: ", entries.status().message()));
    return;
  }
  entries_ = *std::move(entries);
  Log(LogLevel::kInfo,
      absl::StrCat("tokens: ", entries_.size(), " are in ", path_));
}

std::optional<std::string> TokenFile::OwnerOf(absl::string_view token) {
  absl::MutexLock lock(&mutex_);
  ReadIfChanged();
  if (!IsToken(token)) return std::nullopt;
  const Digest digest = DigestOf(token);
  std::optional<std::string> owner;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) {
      owner = entry.owner;
    }
  }
  return owner;
}

std::string TokenOf(absl::string_view authorization) {
  if (authorization.size() > kMaxAuthorization) return "";
  const size_t space = authorization.find(' ');
  if (space == absl::string_view::npos) return "";
  const absl::string_view scheme = authorization.substr(0, space);
  const absl::string_view rest =
      absl::StripAsciiWhitespace(authorization.substr(space));
  if (absl::EqualsIgnoreCase(scheme, "Bearer")) return std::string(rest);
  std::string pair;
  if (!absl::EqualsIgnoreCase(scheme, "Basic") ||
      !absl::Base64Unescape(rest, &pair)) {
    return "";
  }
  const size_t colon = pair.find(':');
  return colon == std::string::npos ? "" : pair.substr(colon + 1);
}

}  // namespace swaplock
