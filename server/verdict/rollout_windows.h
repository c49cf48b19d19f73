// From host-days and boots, as a ledger keeps them, to the rows of a rollout:
// one kernel change on a host is an event with a window before and one after.
//
// Before: the 7 whole days that end at least 24 h before the reboot (hosts are
// drained then). After: the 7 that begin at least 24 h after it. Days are UTC.
#ifndef SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_
#define SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/cell.h"
#include "server/verdict/rollout.h"

namespace swaplock {

// One boot of one host.
struct HostBoot {
  std::string host_id;
  std::string kernel_release;
  std::string kernel_build;  // build id; empty if unknown
  int64_t day = 0;           // of the boot, since 1970 UTC
  StrataKeys keys;           // without "uptime", which is computed
  // What may change along with the kernel: config options, sysctls, microcode,
  // compressor, agent version. Kernel release and build do not belong here.
  std::map<std::string, std::string> facts;
};

// What one host counted in one cell on one day under one kernel: a row of the
// ledger's host_days, devices and algorithms merged or not.
struct HostDayCell {
  std::string host_id;
  std::string kernel_release;
  int64_t day = 0;
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;
  // kUnspecified: the cell of whole operations, which has only the last two
  // numbers.
  Role role = Role::kUnspecified;
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;
  uint64_t acquisitions = 0;
  uint64_t contended = 0;
  uint64_t waits_over_1ms = 0;
  uint64_t waits_over_10ms = 0;
  uint64_t waits_over_100ms = 0;
  uint64_t episodes_over_10ms = 0;  // 0: not told apart
  uint64_t censored = 0;
  uint64_t wait_ns = 0;
  uint64_t hold_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t longest_hold_ns = 0;
  uint64_t longest_runnable_ns = 0;
  uint64_t timed_operations = 0;
  uint64_t slow_operations = 0;  // over 10 ms
};

// How much of a day a host was measured.
struct HostDay {
  std::string host_id;
  std::string kernel_release;
  int64_t day = 0;
  double hours = 0;  // 0..24
  uint64_t events_lost = 0;
};

struct HostHistory {
  std::vector<HostBoot> boots;
  std::vector<HostDay> days;
  std::vector<HostDayCell> cells;
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
Rollout RolloutOf(const HostHistory& history, const std::string& kernel_base,
                  const std::string& kernel_new, int64_t today);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ROLLOUT_WINDOWS_H_
