// What the server knows of the fleet, as plain values: everything merged per
// cohort, what each host said last, the longest holds, and totals.
//
// A ledger loads this form; Merge adds one committed window to it. Loading
// after a restart gives what merging every window gave before it (a test holds
// the two together), so counters continue.
#ifndef SWAPLOCK_SERVER_FLEET_FLEET_STATE_H_
#define SWAPLOCK_SERVER_FLEET_FLEET_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

// Cells of different tiers or lock models never merge: what one host cannot
// measure must not blur what another can.
struct CohortCellKey {
  CellKey key;  // device is empty: devices are merged
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;

  auto Tie() const {
    return std::tie(key, lock_model, hold_tier, wait_tier, latency_tier);
  }
  bool operator<(const CohortCellKey& other) const {
    return Tie() < other.Tie();
  }
};

CohortCellKey CohortKeyOf(const Cell& cell);

// The longest of one hour, 0 when there was none.
struct Longest {
  uint64_t wait_ns = 0;
  uint64_t hold_ns = 0;
  // Of that same hold; nothing when its parts are not known.
  std::optional<uint64_t> hold_runnable_ns;

  void Merge(const Longest& other);
};

struct CohortCell {
  Cell cell;
  std::map<int64_t, Longest> longest_by_hour;  // kept for kLongestHours
};

struct CohortKey {
  std::string kernel_release;
  std::string preempt;

  auto Tie() const { return std::tie(kernel_release, preempt); }
  bool operator<(const CohortKey& other) const { return Tie() < other.Tie(); }
};

struct Cohort {
  uint64_t windows = 0;
  std::map<CohortCellKey, CohortCell> cells;
};

struct HostRecord {
  Environment environment;  // of its last window, as the next two
  Coverage coverage;
  uint64_t last_seen_unix_ns = 0;  // the end of that window
  uint64_t windows = 0;
};

struct TopHold {
  std::string host_id;
  std::string kernel_release;
  CellKey key;
  Hold hold;
  uint64_t end_unix_ns = 0;  // end of the window it ended in
};

struct FleetState {
  std::map<CohortKey, Cohort> cohorts;
  std::map<std::string, HostRecord> hosts;
  std::vector<TopHold> top_holds;  // longest first, of the last days

  uint64_t windows_merged = 0;
  uint64_t windows_duplicate = 0;
  uint64_t windows_missing = 0;  // sequence numbers skipped, less those merged
  std::map<LossReason, uint64_t> losses;
  uint64_t agent_cpu_ns = 0;
};

// What the ledger found when it committed a window.
struct Outcome {
  bool duplicate = false;  // nothing was added
  uint64_t missing = 0;    // windows skipped before it
};

inline constexpr size_t kTopHoldsPerDay = 50;
inline constexpr int64_t kLongestHours = 24;

// When a window counts, in days and hours since 1970 UTC: at its own wall
// clock, or at `now` if that lies more than an hour ahead or 30 days back.
absl::Time CountedAt(const Window& window, absl::Time now);
int64_t HourOf(absl::Time time);
int64_t DayOf(absl::Time time);

// The longest hold and wait of one cell of `window`. The hold's runnable part
// is known when the hold is among the window's top holds.
Longest LongestOf(const Window& window, size_t cell);

// Adds one committed window.
void Merge(const Window& window, const Outcome& outcome, absl::Time now,
           FleetState* state);

// Sorts by length and keeps the kTopHoldsPerDay longest of each day from the
// day before `now` on.
void TrimTopHolds(absl::Time now, std::vector<TopHold>* holds);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_FLEET_STATE_H_
