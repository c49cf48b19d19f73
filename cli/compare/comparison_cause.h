// Why an operation got slower or faster: what its lock's holds were made of on
// either side. This explains a finding; it is no test.
//
// Pure functions.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_CAUSE_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/compare/comparison_arms.h"
#include "common/cell.h"

namespace swaplock {

// All holds of the locks that an operation takes, whatever operation held them:
// those that it may have to wait behind.
struct HoldsInTheWay {
  bool lock_free = false;  // the operation takes no lock
  uint64_t holds = 0;      // timed ones
  uint64_t total_ns = 0;   // sum of the four parts
  uint64_t on_cpu_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t unknown_ns = 0;
  uint64_t longest_ns = 0;
  // Of the longest, if it is among the recorded ones.
  std::optional<uint64_t> longest_runnable_ns;
  uint64_t wait_ns = 0;  // sum of this operation's waits
  uint64_t wait_owner_runnable_ns = 0;
};

// Nothing if a run cannot see holds, or has none of such a lock.
std::optional<HoldsInTheWay> HoldsInTheWayOf(const Runs& runs,
                                             Subsystem subsystem,
                                             Operation operation);

// Which operations a finding is about.
enum class Direction { kIn, kOut, kEither };  // reads, writes

// What holds contributed to a finding that is `worse` (or better), in one or
// two sentences; empty if holds were not measured on both sides.
std::string CauseOf(const Runs& base, const Runs& newer, Direction direction,
                    bool worse);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_CAUSE_H_
