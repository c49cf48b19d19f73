// A file whose bytes must survive a crash: positioned reads and writes that
// finish or say why not, explicit syncs, and one writer at a time.
//
// Every error names the operation and the path. Not thread-safe.
#ifndef SWAPLOCK_COMMON_DURABLE_FILE_H_
#define SWAPLOCK_COMMON_DURABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

class DurableFile {
 public:
  // NotFound if it is not there.
  static absl::StatusOr<DurableFile> OpenToRead(const std::string& path);
  // Creates it (mode 0644) if need be, and makes its name durable.
  static absl::StatusOr<DurableFile> OpenToWrite(const std::string& path);

  DurableFile(DurableFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  DurableFile& operator=(DurableFile&& other) noexcept;
  ~DurableFile();

  // Up to `size` bytes; fewer only at the end of the file.
  absl::StatusOr<std::string> ReadAt(uint64_t offset, size_t size) const;
  // Whether nothing but zeros lies from `offset` to the end of the file: what
  // a power failure leaves of bytes that were written but not synced.
  absl::StatusOr<bool> OnlyZerosFrom(uint64_t offset) const;
  absl::StatusOr<uint64_t> Size() const;

  // All bytes or an error; after an error some may have been written.
  absl::Status WriteAt(uint64_t offset, absl::string_view bytes);
  absl::Status Truncate(uint64_t size);
  // Lengthens the file to `size` bytes of zeros that the file system has set
  // aside: writing to them needs no free space. After an error it may be longer
  // than before.
  absl::Status Allocate(uint64_t size);
  // The bytes written so far survive a power failure (fdatasync).
  absl::Status Sync();

  // FailedPrecondition while another process holds the lock. The kernel
  // releases it when the process ends, however it ends.
  absl::Status LockForThisProcess();

  // Puts this file in place of the one at `path`, durably: after a crash there
  // is the old one or the new one. Sync() first.
  absl::Status RenameTo(const std::string& path);

  const std::string& path() const { return path_; }

 private:
  DurableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

// The integers of our files: little-endian.
std::string EncodeFixed32(uint32_t value);
std::string EncodeFixed64(uint64_t value);
// Of the first four or eight bytes, which must be there.
uint32_t DecodeFixed32(absl::string_view bytes);
uint64_t DecodeFixed64(absl::string_view bytes);

// CRC-32C (Castagnoli), as the record file and the spool use it.
uint32_t Crc32c(absl::string_view bytes);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_DURABLE_FILE_H_
