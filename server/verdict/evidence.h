// What verdicts are made of, host by host, as a ledger keeps it, and the seam
// to the ledger.
#ifndef SWAPLOCK_SERVER_VERDICT_EVIDENCE_H_
#define SWAPLOCK_SERVER_VERDICT_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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
  int64_t last_day = 0;  // that a window of it came
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
  // A window in which somebody waited for a device's lock for over 10 ms counts
  // as one, so that there were at least so many; 0 with waits: not told apart.
  uint64_t episodes_over_10ms = 0;
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

// Reads evidence as it was when the reader was made, whatever is committed
// meanwhile. Belongs to one thread at a time.
class EvidenceReader {
 public:
  virtual ~EvidenceReader() = default;

  // Of all hosts and kernels, in any order; without keys and facts, which are
  // large.
  virtual absl::StatusOr<std::vector<HostBoot>> Boots() = 0;

  // All boots of the host, with keys and facts, and what it counted on the days
  // from `first_day` to `last_day`. May give rows of other days as well.
  virtual absl::StatusOr<HostHistory> Host(const std::string& host_id,
                                           int64_t first_day,
                                           int64_t last_day) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_EVIDENCE_H_
