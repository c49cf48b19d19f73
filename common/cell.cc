#include "common/cell.h"

#include <algorithm>

namespace swaplock {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;

Tier WorseTier(Tier a, Tier b) {
  // kUnspecified means "not measured": the worst there is.
  if (a == Tier::kUnspecified || b == Tier::kUnspecified) {
    return Tier::kUnspecified;
  }
  return std::max(a, b);
}

}  // namespace

absl::string_view Name(Subsystem value) {
  switch (value) {
    case Subsystem::kZswap:
      return "zswap";
    case Subsystem::kZram:
      return "zram";
    case Subsystem::kZsmalloc:
      return "zsmalloc";
    case Subsystem::kUnspecified:
      break;
  }
  return "unspecified";
}

absl::string_view Name(Operation value) {
  switch (value) {
    case Operation::kLoad:
      return "load";
    case Operation::kStore:
      return "store";
    case Operation::kRead:
      return "read";
    case Operation::kWrite:
      return "write";
    case Operation::kRecompress:
      return "recompress";
    case Operation::kWriteback:
      return "writeback";
    case Operation::kUnspecified:
      break;
  }
  return "any";
}

absl::string_view Name(Role value) {
  switch (value) {
    case Role::kStream:
      return "stream";
    case Role::kCompressStream:
      return "compress_stream";
    case Role::kDecompressStream:
      return "decompress_stream";
    case Role::kPin:
      return "pin";
    case Role::kSizeClass:
      return "size_class";
    case Role::kPool:
      return "pool";
    case Role::kUnspecified:
      break;
  }
  return "any";
}

absl::string_view Name(Mode value) {
  switch (value) {
    case Mode::kExclusive:
      return "exclusive";
    case Mode::kShared:
      return "shared";
    case Mode::kUnspecified:
      break;
  }
  return "any";
}

absl::string_view Name(LockModel value) {
  switch (value) {
    case LockModel::kPreemptOff:
      return "preempt_off";
    case LockModel::kLocalLock:
      return "local_lock";
    case LockModel::kMutex:
      return "mutex";
    case LockModel::kSplitMutex:
      return "split_mutex";
    case LockModel::kRwsemShared:
      return "rwsem_shared";
    case LockModel::kRwsemExclusive:
      return "rwsem_exclusive";
    case LockModel::kSpinlock:
      return "spinlock";
    case LockModel::kRwlock:
      return "rwlock";
    case LockModel::kNone:
      return "none";
    case LockModel::kUnspecified:
      break;
  }
  return "unspecified";
}

absl::string_view Name(Tier value) {
  switch (value) {
    case Tier::kExact:
      return "exact";
    case Tier::kBracket:
      return "bracket";
    case Tier::kOwnerProbe:
      return "owner_probe";
    case Tier::kContention:
      return "contention";
    case Tier::kUnspecified:
      break;
  }
  return "unspecified";
}

void Distribution::Add(uint64_t ns) {
  buckets.Add(ns);
  sum_ns += ns;
  max_ns = std::max(max_ns, ns);
  over_1ms += ns > kMillisecondNs;
  over_10ms += ns > 10 * kMillisecondNs;
  over_100ms += ns > 100 * kMillisecondNs;
}

void Distribution::Merge(const Distribution& other) {
  buckets.Merge(other.buckets);
  sum_ns += other.sum_ns;
  max_ns = std::max(max_ns, other.max_ns);
  over_1ms += other.over_1ms;
  over_10ms += other.over_10ms;
  over_100ms += other.over_100ms;
}

double Distribution::MeanNs() const {
  const uint64_t count = Count();
  if (count == 0) return 0;
  return static_cast<double>(sum_ns) / static_cast<double>(count);
}

void Cell::Merge(const Cell& other) {
  const auto unmeasured = [](const Cell& cell) {
    return cell.Empty() && cell.hold_tier == Tier::kUnspecified &&
           cell.wait_tier == Tier::kUnspecified &&
           cell.latency_tier == Tier::kUnspecified;
  };
  if (unmeasured(other)) return;
  if (unmeasured(*this)) {
    lock_model = other.lock_model;
    hold_tier = other.hold_tier;
    wait_tier = other.wait_tier;
    latency_tier = other.latency_tier;
  } else {
    if (lock_model != other.lock_model) lock_model = LockModel::kUnspecified;
    hold_tier = WorseTier(hold_tier, other.hold_tier);
    wait_tier = WorseTier(wait_tier, other.wait_tier);
    latency_tier = WorseTier(latency_tier, other.latency_tier);
  }
  acquisitions += other.acquisitions;
  contended += other.contended;
  wait.Merge(other.wait);
  hold.Merge(other.hold);
  runnable.Merge(other.runnable);
  blocked.Merge(other.blocked);
  on_cpu_ns += other.on_cpu_ns;
  unknown_ns += other.unknown_ns;
  waits_owner_running += other.waits_owner_running;
  waits_owner_runnable += other.waits_owner_runnable;
  waits_owner_blocked += other.waits_owner_blocked;
  wait_owner_runnable_ns += other.wait_owner_runnable_ns;
  inversions += other.inversions;
  preempted_ns += other.preempted_ns;
  woken_ns += other.woken_ns;
  throttled_ns += other.throttled_ns;
  migrations += other.migrations;
  latency.Merge(other.latency);
}

bool Cell::Empty() const {
  return acquisitions == 0 && contended == 0 && wait.Count() == 0 &&
         hold.Count() == 0 && runnable.Count() == 0 && blocked.Count() == 0 &&
         latency.Count() == 0;
}

bool IsOperation(const Cell& cell) {
  return cell.latency_tier != Tier::kUnspecified &&
         cell.hold_tier == Tier::kUnspecified &&
         cell.wait_tier == Tier::kUnspecified;
}

bool MeasuresSplit(const Cell& cell) {
  return CountsHolds(cell.hold_tier) &&
         (cell.runnable.sum_ns == 0 || cell.preempted_ns + cell.woken_ns > 0);
}

}  // namespace swaplock
