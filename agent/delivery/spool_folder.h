// The spool's disk as the agent uses it: a file in a folder that belongs to one
// process at a time.
#ifndef SWAPLOCK_AGENT_DELIVERY_SPOOL_FOLDER_H_
#define SWAPLOCK_AGENT_DELIVERY_SPOOL_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/delivery/spool_disk.h"

namespace swaplock {

// `folder`/spool, made with `size` bytes if it is not there, as is the folder.
// One that is there keeps its size. A file that is no spool of this version is
// moved aside as "spool.damaged". FailedPrecondition while another process has
// the folder.
absl::StatusOr<std::unique_ptr<SpoolDisk>> OpenSpoolFolder(
    const std::string& folder, uint64_t size);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SPOOL_FOLDER_H_
