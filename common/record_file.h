// A record file (*.slk): windows and the begins and ends of runs one after the
// other, as `swaplock record` and `swaplock-agent --record` write them and
// `swaplock report` and `swaplock-agent --replay` read them.
//
// Layout: the 8 bytes "swaplk2\n", then per record a 32-bit little-endian
// length, the CRC-32C of the payload, and the payload: a serialized
// swaplock.v1.Record of at most kMaxRecordBytes. A record cut short by a crash,
// or never filled after a power failure (zeros to the end of the file), is a
// torn tail: everything before it reads normally. A record of a kind that this
// version does not know is passed over.
//
// Neither class is thread-safe.
#ifndef SWAPLOCK_COMMON_RECORD_FILE_H_
#define SWAPLOCK_COMMON_RECORD_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/durable_file.h"
#include "common/run.h"
#include "common/window.h"

namespace swaplock {

using Record = std::variant<Window, RunBegin, RunEnd>;

inline constexpr uint32_t kMaxRecordBytes = 4 << 20;

class RecordWriter {
 public:
  // Creates the file, or appends to a record file; a torn tail is cut off
  // first. FailedPrecondition if the file is something else, of another format
  // or somebody else writes to it; DataLoss, and the file untouched, if a
  // record is damaged.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Open(
      const std::string& path);
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // Each writes one record and makes it durable (fdatasync) before it returns.
  // After an error the file ends where it did before, and a later Append may
  // succeed.
  absl::Status Append(const Window& window);
  absl::Status Append(const RunBegin& begin);
  absl::Status Append(const RunEnd& end);

  // The last window that Open() found in the file.
  const std::optional<Window>& last_found() const { return last_found_; }

 private:
  explicit RecordWriter(DurableFile file) : file_(std::move(file)) {}
  absl::Status AppendPayload(absl::string_view payload);
  DurableFile file_;
  uint64_t end_ = 0;  // where the next record goes
  std::optional<Window> last_found_;
};

class RecordReader {
 public:
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      const std::string& path);
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // The next record; OutOfRange at the end of the file or at a torn tail
  // (`torn()` tells which); DataLoss with the offset when a whole record is
  // damaged. What a writer appends meanwhile is read by calling again.
  absl::StatusOr<Record> NextRecord();

  // The next window; what lies between is passed over.
  absl::StatusOr<Window> Next();

  bool torn() const { return torn_; }
  // Offset of the first byte that no whole record covers.
  uint64_t offset() const { return offset_; }

 private:
  explicit RecordReader(DurableFile file) : file_(std::move(file)) {}
  // Nothing for a record of a kind that this version does not know.
  absl::StatusOr<std::optional<Record>> ReadRecord();
  DurableFile file_;
  uint64_t offset_ = 0;
  bool torn_ = false;
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_RECORD_FILE_H_
