// A record file (*.slk): windows one after the other, as `swaplock-agent
// --record` writes and `--replay` reads them.
//
// Layout: the 8 bytes "swaplk1\n", then per window a 32-bit little-endian
// length, the CRC-32C of the payload, and the payload: a serialized
// swaplock.v1.Window. A record cut short by a crash is a torn tail: everything
// before it reads normally.
//
// Neither class is thread-safe.
#ifndef SWAPLOCK_COMMON_RECORD_FILE_H_
#define SWAPLOCK_COMMON_RECORD_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/window.h"

namespace swaplock {

class RecordWriter {
 public:
  // Creates the file, or appends to a record file; a torn tail is cut off
  // first. FailedPrecondition if the file is something else.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Open(
      const std::string& path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // Writes one window and makes it durable (fdatasync) before it returns.
  absl::Status Append(const Window& window);

 private:
  RecordWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

class RecordReader {
 public:
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      const std::string& path);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // The next window; OutOfRange at the end of the file or at a torn tail
  // (`torn()` tells which); DataLoss with the offset when a whole record is
  // damaged.
  absl::StatusOr<Window> Next();

  bool torn() const { return torn_; }
  // Offset of the first byte that no whole window covers.
  uint64_t offset() const { return offset_; }

 private:
  RecordReader(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
  uint64_t offset_ = 0;
  bool torn_ = false;
};

// CRC-32C (Castagnoli), as the record file and the spool use it.
uint32_t Crc32c(absl::string_view bytes);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_RECORD_FILE_H_
