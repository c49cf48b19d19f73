// Who this agent is: the first three parts of every window's key.
#ifndef SWAPLOCK_AGENT_IDENTITY_H_
#define SWAPLOCK_AGENT_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"

namespace swaplock {

// 32 hex digits that are the same for the same secret and do not tell it
// (HMAC-SHA256). machine-id(5) asks not to send the machine id itself.
std::string HostIdOf(absl::string_view secret);

// Of `machine_id_path`, by default systemd's; of the host's name when that file
// is missing or not set up.
std::string LocalHostId(const std::string& machine_id_path = "/etc/machine-id");

// 16 raw bytes of a boot id as the kernel prints it: 36 characters with dashes.
absl::StatusOr<std::string> ParseBootId(absl::string_view text);
// This boot's.
absl::StatusOr<std::string> LocalBootId();

// Milliseconds of CLOCK_BOOTTIME: grows with each start on one boot, whatever
// the wall clock does, and needs no file to remember the last one.
inline uint64_t EpochOf(const Clock& clock) {
  return clock.boottime_ns() / 1'000'000;
}

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_IDENTITY_H_
