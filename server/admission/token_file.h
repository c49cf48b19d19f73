// A file of tokens and whose they are, mode 0600:
//
//   # comment
//   web-17 3vR...   (a token of 16 to 512 ASCII characters)
//   web-17 9kQ...   (a second one, while the first is being replaced)
//
// The file is read again when it changed. One that cannot be read then lets
// nobody in until it can, so that nothing but reading it decides.
//
// Tokens are kept and compared as SHA-256 digests, all of them each time, so
// the time tells nothing. Thread-safe.
#ifndef SWAPLOCK_SERVER_ADMISSION_TOKEN_FILE_H_
#define SWAPLOCK_SERVER_ADMISSION_TOKEN_FILE_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/secret_file.h"

namespace swaplock {

class TokenFile {
 public:
  // FailedPrecondition or NotFound in one sentence when it cannot be used now.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(std::string path);

  // Whose token this is; nothing when it is nobody's.
  std::optional<std::string> OwnerOf(absl::string_view token);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Entry {
    std::string owner;
    Digest digest;
  };

  explicit TokenFile(std::string path) : path_(std::move(path)) {}
  static Digest DigestOf(absl::string_view token);
  static absl::StatusOr<std::vector<Entry>> Parse(const std::string& path);
  void ReadIfChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  absl::Mutex mutex_;
  FileStamp seen_ ABSL_GUARDED_BY(mutex_);
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// "Bearer TOKEN", or "Basic BASE64" of a name and the token as its password, as
// a browser sends it; empty when it is neither.
std::string TokenOf(absl::string_view authorization);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_TOKEN_FILE_H_
