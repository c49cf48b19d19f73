// From host-days and boots, as a ledger keeps them, to the rows of a rollout:
// one kernel change on a host is an event with a window before and one after.
//
// Before: of the 28 whole days that end at least 24 h before the reboot (hosts
// are drained then), those on the base build: what a host is compared with has
// less noise the longer it is. After: the 7 days that begin at least 24 h after
// the reboot. Days are UTC.
#ifndef SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_
#define SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "server/verdict/evidence.h"
#include "server/verdict/rollout.h"

namespace swaplock {

struct RolloutWindows {
  // Hosts to leave out.
  std::set<std::string> without;
  // All after-windows begin on this day, however long ago the reboot was, and
  // hosts of any uptime are compared: how it is now. Absent: after the reboot.
  std::optional<int64_t> after_first_day;
  // Only what boots tell: no host has a window, and nobody waits. For planning;
  // what hosts counted is most of the reading.
  bool boots_only = false;
};

// The rollout of `kernel_new` over `kernel_base`, as it stood at the end of
// day `today`. Hosts that went from one to the other are upgraded; hosts that
// stayed are each compared with one wave (calendar week) of them, picked by a
// hash among those that they can serve: where they rebooted into the base build
// within 3 days, if any. When fewer than 8 hosts did, uptimes differ; then days
// 7 to 14 after the reboot are compared and the rollout says uptime_unmatched.
//
// An upgraded host without a measured day in the second half of its
// after-window has vanished.
//
// Nothing of a day after `today` counts. Reads one host after the other; the
// reader's errors are given back.
absl::StatusOr<Rollout> RolloutOf(EvidenceReader* reader,
                                  const std::string& kernel_base,
                                  const std::string& kernel_new, int64_t today,
                                  const RolloutWindows& windows);
Rollout RolloutOf(const HostHistory& history, const std::string& kernel_base,
                  const std::string& kernel_new, int64_t today);

// From a host's reboot to the last day of its after-window.
int64_t DaysToClose(const Rollout& rollout);

// Hosts that ran `kernel` throughout, all of them controls, with windows around
// the last day that leaves a whole one after it: what a self-test splits. Of
// more than `max_hosts` those with the lowest hashes.
absl::StatusOr<Rollout> PlaceboOf(EvidenceReader* reader,
                                  const std::string& kernel, int64_t today,
                                  const RolloutWindows& windows,
                                  size_t max_hosts);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_
