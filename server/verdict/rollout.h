// The evidence that a verdict on two kernel builds rests on, as plain rows:
// what each host counted before and after a reboot, whether that reboot brought
// the new kernel, and what else changed with it.
//
// rollout_windows.h makes these rows from host-days, as a ledger keeps them. A
// test or a simulation may fill them directly. What was not measured is absent,
// never 0.
#ifndef SWAPLOCK_SERVER_VERDICT_ROLLOUT_H_
#define SWAPLOCK_SERVER_VERDICT_ROLLOUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/cell.h"
#include "server/verdict/operation_key.h"
#include "server/verdict/wait_sight.h"

namespace swaplock {

// How a host measured an operation over a whole window.
struct Measured {
  // Of the role that was taken most often.
  LockModel lock_model = LockModel::kUnspecified;
  // Nothing: waits were not measured, or not in one way. Operations are counted
  // whenever waits are.
  std::optional<WaitSight> waits;
  bool parts = false;    // the runnable part of holds is known
  bool latency = false;  // whole operations were timed
};

struct BucketCount {
  int index = 0;  // of common/histogram.h
  uint64_t count = 0;
};

// What one host counted of one operation over one window. Devices and
// algorithms are added up; so are roles, but for `operations`.
struct OperationCounts {
  Measured measured;
  // Acquisitions of the role that was taken most often: an operation takes each
  // of its locks about once.
  uint64_t operations = 0;
  uint64_t contended = 0;
  uint64_t waits_over_1ms = 0;
  uint64_t waits_over_10ms = 0;
  uint64_t waits_over_100ms = 0;
  // Episodes of waits over 10 ms: waits on one lock that overlap are one. At
  // least so many there were; 0 with waits: not told apart, and waits are
  // taken.
  uint64_t episodes_over_10ms = 0;
  uint64_t wait_ns = 0;
  uint64_t hold_ns = 0;
  uint64_t runnable_ns = 0;          // of hold_ns; see measured.parts
  uint64_t longest_runnable_ns = 0;  // of one hold
  // Holds and waits over 10 ms whose end was not seen: cut off by the end of
  // the window, of the agent or of the kernel. Counted in the above for the
  // thresholds they had passed.
  uint64_t censored = 0;
  // Whole operations, entry to exit; see measured.latency.
  uint64_t timed_operations = 0;
  uint64_t slow_operations = 0;  // that took over 10 ms
  // The longest hold of each day that has one.
  std::vector<uint64_t> daily_longest_hold_ns;
  // Of contended waits, ascending; empty when the ledger does not keep them.
  std::vector<BucketCount> waits;
};

struct HostWindow {
  int64_t first_day = 0;     // since 1970 UTC
  int days = 0;              // whole days that the window spans
  double hours = 0;          // of them, measured
  uint64_t events_lost = 0;  // that a hook should have seen, of all operations
  std::map<OperationKey, OperationCounts> operations;
};

// Properties of a host that a kernel does not change, by name ("cpus",
// "backend"). kStrataKeys lists the names; a missing one reads as "".
using StrataKeys = std::map<std::string, std::string>;

// From the one that matters most to the one that is given up first, when strata
// would be too small. The tercile of the rate before the upgrade follows as the
// last one where hosts have few events; it is computed.
inline constexpr const char* kStrataKeys[] = {
    "cpu_family", "cpus",    "architecture", "backend",
    "compressor", "preempt", "preempt_rt",   "sched_ext",
    "tier",       "uptime",  "page_cluster",
};
// Of these, hosts that differ in one of the first are kept apart even where few
// of either arm remain: other machines have other weeks.
inline constexpr int kFirmKeys = 4;

enum class Arm {
  kTreated,  // rebooted from the base build into the new one
  kControl,  // ran the base build throughout
};

// One host around one reboot: its own baseline, and what came after.
struct HostChange {
  std::string host_id;
  Arm arm = Arm::kControl;
  int64_t boot_day = 0;  // of the reboot, or of the one it is compared with
  // Hosts are only compared within a wave: the same calendar days.
  int64_t wave = 0;
  // A control that rebooted into the old kernel at about the same time. What
  // did not has another uptime, which alone changes rates.
  bool rebooted = true;
  // Fell silent in the after-window and did not come back.
  bool vanished = false;
  std::string build_before;  // kernel build id, or release where unknown
  std::string build_after;
  StrataKeys keys;  // as they were before
  // Facts that the reboot changed, as "preempt: none -> lazy".
  std::set<std::string> co_changes;
  // Absent: nothing was measured there (parallel groups have no before).
  std::optional<HostWindow> before;
  std::optional<HostWindow> after;
};

// How the hosts can be compared, strongest first.
enum class Design {
  kBeforeAfterWithControls,  // A
  kParallelGroups,           // B: no history of the hosts
  kBeforeAfter,              // C: nobody was left on the base build
  kChangePoint,              // D: one cohort over time
};

struct Rollout {
  std::string kernel_base;
  std::string kernel_new;
  // Builds between the two that hosts skipped: a difference may be theirs.
  std::vector<std::string> builds_between;
  // Boot days of all hosts that were seen to be upgraded, ascending, also of
  // those that wait; of hosts first seen on the new build if there are no
  // others.
  std::vector<int64_t> upgrade_days;
  // Upgraded hosts whose after-window is still open; they are not in `hosts`.
  uint64_t hosts_waiting = 0;
  // Uptimes were matched by comparing later days (7 to 14) instead.
  bool uptime_unmatched = false;
  std::vector<HostChange> hosts;  // of distinct ids, in any order
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ROLLOUT_H_
