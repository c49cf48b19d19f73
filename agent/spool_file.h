// The spool's records on disk: a log of windows, each with a state byte that
// changes in place, so that saying "gone" needs no free space.
//
// Layout: the 8 bytes "swaplsp1", then per record
//   state       1 byte   'P' pending, 'D' pending and in doubt, 'G' gone
//   mark        3 bytes  "rec"
//   length      32 bits  of the payload, little-endian
//   crc         32 bits  CRC-32C of order and payload
//   order       64 bits  place in the queue; a merged window has its first
//   one's payload     a serialized swaplock.v1.Window
//
// Not thread-safe: Spool's mutex guards it.
#ifndef SWAPLOCK_AGENT_SPOOL_FILE_H_
#define SWAPLOCK_AGENT_SPOOL_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/durable_file.h"

namespace swaplock {

class SpoolFile {
 public:
  struct Record {
    uint64_t offset = 0;
    uint64_t order = 0;
    bool in_doubt = false;
  };

  // What Open() had to leave behind.
  struct Damage {
    uint64_t records = 0;     // whole, but with a wrong checksum
    uint64_t tail_bytes = 0;  // cut off the end
    bool foreign = false;     // no spool: moved aside as "spool.damaged"
  };

  // Opens or creates `folder`/spool, and the folder. `found` is called with
  // each pending record and its payload, in the order of the file.
  // FailedPrecondition while another process has the folder.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Open(
      const std::string& folder, Damage* damage,
      const std::function<void(const Record&, absl::string_view payload)>&
          found);

  // Writes a record and makes it durable. After an error the file ends where it
  // did before.
  absl::StatusOr<Record> Append(uint64_t order, bool in_doubt,
                                absl::string_view payload);
  absl::StatusOr<std::string> Read(const Record& record) const;

  // Durable before it returns.
  absl::Status MarkGone(const Record& record);

  // Everything is gone: the file shrinks to its first 8 bytes.
  absl::Status Clear();

  // Writes the file anew with these records only, whose offsets change. Needs
  // room for them beside the old file until it is done. After an error the old
  // file is in use and no record changed.
  absl::Status Compact(const std::vector<Record*>& keep);

  uint64_t size() const { return end_; }
  // What a record of this payload adds to the file.
  static uint64_t SizeOnDisk(absl::string_view payload);

 private:
  SpoolFile(DurableFile lock, DurableFile file)
      : lock_(std::move(lock)), file_(std::move(file)) {}

  DurableFile lock_;
  DurableFile file_;
  uint64_t end_ = 0;  // where the next record goes
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_SPOOL_FILE_H_
