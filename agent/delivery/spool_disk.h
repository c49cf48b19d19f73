// The disk under the spool: one file whose bytes were all allocated when it was
// made, so that writing to it needs no free space. This is the seam where tests
// put faults.
//
// Not thread-safe: Spool's mutex guards it.
#ifndef SWAPLOCK_AGENT_DELIVERY_SPOOL_DISK_H_
#define SWAPLOCK_AGENT_DELIVERY_SPOOL_DISK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

class SpoolDisk {
 public:
  virtual ~SpoolDisk() = default;

  virtual uint64_t size() const = 0;
  // `size` bytes, zeros where the file has none.
  virtual absl::StatusOr<std::string> Read(uint64_t offset,
                                           size_t size) const = 0;
  // After an error some of the bytes may have been written.
  virtual absl::Status Write(uint64_t offset, absl::string_view bytes) = 0;
  // What was written survives a power failure. After an error that is not known
  // of anything written since the last success.
  virtual absl::Status Sync() = 0;
};

using OpenSpoolDisk =
    std::function<absl::StatusOr<std::unique_ptr<SpoolDisk>>()>;

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SPOOL_DISK_H_
