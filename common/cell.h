// A cell: counts, sums, exceedances, maxima and histograms of one (subsystem,
// operation, role, mode, device, algorithm), as deltas over some interval.
//
// The enumerations have the numbers of proto/window.proto (common/window.cc
// asserts it) and 0 always means "unspecified".
//
// Cells merge by addition: Merge is associative and commutative, with an empty
// cell as its neutral element. Not thread-safe.
#ifndef SWAPLOCK_COMMON_CELL_H_
#define SWAPLOCK_COMMON_CELL_H_

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/strings/string_view.h"
#include "common/histogram.h"

namespace swaplock {

enum class Subsystem { kUnspecified = 0, kZswap = 1, kZram = 2, kZsmalloc = 3 };

enum class Operation {
  kUnspecified = 0,
  kLoad = 1,
  kStore = 2,
  kRead = 3,
  kWrite = 4,
  kRecompress = 5,
  kWriteback = 6,
};

enum class Role {
  kUnspecified = 0,
  kStream = 1,
  kCompressStream = 2,
  kDecompressStream = 3,
  kPin = 4,
  kSizeClass = 5,
  kPool = 6,
};

enum class Mode { kUnspecified = 0, kExclusive = 1, kShared = 2 };

enum class LockModel {
  kUnspecified = 0,
  kPreemptOff = 1,
  kLocalLock = 2,
  kMutex = 3,
  kSplitMutex = 4,
  kRwsemShared = 5,
  kRwsemExclusive = 6,
  kSpinlock = 7,
  kRwlock = 8,
  kNone = 9,
};

enum class Tier {
  kUnspecified = 0,
  kExact = 1,
  kBracket = 2,
  kOwnerProbe = 3,
  kContention = 4,
};

// Lower-case names as metrics and tables print them: "zram", "write",
// "compress_stream", "exclusive", "preempt_off", "owner_probe". kUnspecified
// reads "unspecified" for a tier or a model and "any" for an operation, a role
// or a mode. A number without a name reads as kUnspecified.
absl::string_view Name(Subsystem value);
absl::string_view Name(Operation value);
absl::string_view Name(Role value);
absl::string_view Name(Mode value);
absl::string_view Name(LockModel value);
absl::string_view Name(Tier value);

// Whether cells of this tier count every hold (and so acquisitions).
inline bool CountsHolds(Tier tier) {
  return tier == Tier::kExact || tier == Tier::kBracket;
}

struct Distribution {
  Histogram buckets;
  uint64_t sum_ns = 0;
  uint64_t max_ns = 0;
  // Values strictly greater than the threshold, counted exactly.
  uint64_t over_1ms = 0;
  uint64_t over_10ms = 0;
  uint64_t over_100ms = 0;

  // Counts one value into everything.
  void Add(uint64_t ns);
  void Merge(const Distribution& other);
  uint64_t Count() const { return buckets.Count(); }
  double QuantileNs(double q) const { return buckets.QuantileNs(q, max_ns); }
  // 0 when empty. Print it, never judge by it: it is a tail number here.
  double MeanNs() const;
};

struct CellKey {
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;
  Role role = Role::kUnspecified;
  Mode mode = Mode::kUnspecified;
  std::string device;
  std::string algorithm;

  auto Tie() const {
    return std::tie(subsystem, operation, role, mode, device, algorithm);
  }
  bool operator==(const CellKey& other) const { return Tie() == other.Tie(); }
  bool operator<(const CellKey& other) const { return Tie() < other.Tie(); }
};

struct Cell {
  CellKey key;
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  Tier latency_tier = Tier::kUnspecified;

  uint64_t acquisitions = 0;
  uint64_t contended = 0;
  Distribution wait;
  Distribution hold;
  Distribution runnable;
  Distribution blocked;
  uint64_t on_cpu_ns = 0;
  uint64_t unknown_ns = 0;

  uint64_t waits_owner_running = 0;
  uint64_t waits_owner_runnable = 0;
  uint64_t waits_owner_blocked = 0;
  uint64_t wait_owner_runnable_ns = 0;
  uint64_t inversions = 0;
  // Parts of runnable.sum_ns.
  uint64_t preempted_ns = 0;
  uint64_t woken_ns = 0;
  uint64_t throttled_ns = 0;
  uint64_t migrations = 0;
  // Of whole operations, entry to exit, in cells without role and mode.
  Distribution latency;

  // Adds `other`'s numbers. Keys are the caller's business. Where lock model
  // or tier differ, the merged cell has the worse tier and no model.
  void Merge(const Cell& other);

  // True when nothing was counted.
  bool Empty() const;
};

// Whether the cell is of operations as a whole, which are in cells of their
// own: its numbers are in `latency`, it has none of holds and waits.
bool IsOperation(const Cell& cell);

// Whether the parts of the cell's runnable part, and its migrations, are known:
// holds were seen, and so were their holders' switches, if there were any.
bool MeasuresSplit(const Cell& cell);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_CELL_H_
