// Files that hold secrets or decide whom to trust: read whole, and refused when
// more people could read them than should.
#ifndef SWAPLOCK_COMMON_SECRET_FILE_H_
#define SWAPLOCK_COMMON_SECRET_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

// Up to 1 MiB. The errors name the path and what is wrong in one sentence.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// The same; FailedPrecondition when others may read the file or its group may
// write it.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

// Puts `content` at `path` with exactly `mode`, durably and in one step: who
// reads it meanwhile sees the old file or the new one.
absl::Status ReplaceFile(const std::string& path, absl::string_view content,
                         mode_t mode);

// What tells whether a file was changed or replaced; all 0 when it is not
// there. Symbolic links are followed.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_ns = 0;  // the later of contents and attributes

  static FileStamp Of(const std::string& path);
  bool operator==(const FileStamp& other) const;
  bool operator!=(const FileStamp& other) const { return !(*this == other); }
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_SECRET_FILE_H_
