#include "agent/window_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace swaplock {
namespace {

// What a number grew by, held within [low, high]; the baseline moves by what
// was emitted, so that what was held back or lent comes out later.
uint64_t Emit64(uint64_t total, __u64* emitted, uint64_t low, uint64_t high) {
  const auto grown = static_cast<int64_t>(total - *emitted);
  const uint64_t out =
      std::clamp(grown < 0 ? 0 : static_cast<uint64_t>(grown), low, high);
  *emitted += out;
  return out;
}

uint64_t Emit64(uint64_t total, __u64* emitted) {
  return Emit64(total, emitted, 0, std::numeric_limits<int64_t>::max());
}

// The same for 32-bit counters, which wrap.
uint32_t Emit32(uint32_t total, __u32* emitted, uint32_t low, uint32_t high) {
  const auto grown = static_cast<int32_t>(total - *emitted);
  const uint32_t out =
      std::clamp(grown < 0 ? 0 : static_cast<uint32_t>(grown), low, high);
  *emitted += out;
  return out;
}

struct Bounds {
  uint64_t low_ns = 0;
  uint64_t high_ns = 0;
};

// What the sum of the values can be, given their buckets.
Bounds SumBounds(const Histogram& buckets) {
  double low = 0;
  double high = 0;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    const double n = static_cast<double>(buckets.bucket(i));
    if (n == 0) continue;
    low += n * std::floor(Histogram::LowerBoundNs(i));
    // 2^44 ns is five hours: more than any hold, and its sums stay in range.
    high += n * std::floor(std::min(Histogram::UpperBoundNs(i), std::exp2(44)));
  }
  return {static_cast<uint64_t>(low),
          static_cast<uint64_t>(std::min(high, std::exp2(62)))};
}

// How many of the values can be above `threshold_ns`, given their buckets.
std::pair<uint32_t, uint32_t> OverBounds(const Histogram& buckets,
                                         double threshold_ns) {
  uint64_t low = 0;
  uint64_t high = 0;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    if (Histogram::LowerBoundNs(i) >= threshold_ns) low += buckets.bucket(i);
    if (Histogram::UpperBoundNs(i) > threshold_ns) high += buckets.bucket(i);
  }
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(high)};
}

uint32_t EmitOver(const Histogram& buckets, double threshold_ns, uint32_t total,
                  uint32_t* emitted) {
  const auto [low, high] = OverBounds(buckets, threshold_ns);
  return Emit32(total, emitted, low, high);
}

Distribution TakeDistribution(const sl_dist& total, sl_dist* emitted,
                              bool bound_sum) {
  Distribution out;
  int highest = -1;
  for (int i = 0; i < SL_SLOTS; ++i) {
    // Slots only grow; a wrap is no shrinking.
    const uint32_t n = total.slot[i] - emitted->slot[i];
    emitted->slot[i] = total.slot[i];
    if (n == 0) continue;
    out.buckets.AddToBucket(Histogram::kUnderflowIndex + i, n);
    highest = Histogram::kUnderflowIndex + i;
  }
  const Bounds bounds = SumBounds(out.buckets);
  out.sum_ns = bound_sum ? Emit64(total.sum_ns, &emitted->sum_ns, bounds.low_ns,
                                  bounds.high_ns)
                         : Emit64(total.sum_ns, &emitted->sum_ns);
  out.over_1ms = EmitOver(out.buckets, 1e6, total.over_1ms, &emitted->over_1ms);
  out.over_10ms =
      EmitOver(out.buckets, 1e7, total.over_10ms, &emitted->over_10ms);
  out.over_100ms =
      EmitOver(out.buckets, 1e8, total.over_100ms, &emitted->over_100ms);
  if (highest >= 0) {
    // The maximum lies in the highest bucket; a torn read may have missed it.
    const double low = std::floor(Histogram::LowerBoundNs(highest)) + 1;
    const double high =
        std::floor(std::min(Histogram::UpperBoundNs(highest), std::exp2(62)));
    out.max_ns = std::clamp(uint64_t{total.max_ns[0]},
                            highest == Histogram::kUnderflowIndex
                                ? uint64_t{0}
                                : static_cast<uint64_t>(low),
                            static_cast<uint64_t>(high));
  }
  return out;
}

}  // namespace

void WindowBuilder::SetMeaning(int index, CellMeaning meaning) {
  used_.erase(index);
  meanings_[index] = std::move(meaning);
}

void WindowBuilder::ClearMeaning(int index) { meanings_.erase(index); }

std::vector<Cell> WindowBuilder::TakeCells(const std::map<int, sl_cell>& totals,
                                           std::map<int, uint32_t>* index_of) {
  std::vector<Cell> out;
  index_of->clear();
  for (const auto& [index, meaning] : meanings_) {
    const auto at = totals.find(index);
    if (at == totals.end()) continue;
    const sl_cell& total = at->second;
    sl_cell& emitted = emitted_[index];
    Cell cell;
    cell.key = meaning.key;
    cell.lock_model = meaning.lock_model;
    cell.hold_tier = meaning.hold_tier;
    cell.wait_tier = meaning.wait_tier;
    cell.wait = TakeDistribution(total.wait, &emitted.wait, true);
    cell.contended = cell.wait.Count();
    cell.runnable = TakeDistribution(total.runnable, &emitted.runnable, true);
    cell.blocked = TakeDistribution(total.blocked, &emitted.blocked, true);
    if (CountsHolds(meaning.hold_tier)) {
      cell.hold = TakeDistribution(total.hold, &emitted.hold, false);
      cell.acquisitions = cell.hold.Count();
      cell.on_cpu_ns = Emit64(total.on_cpu_ns, &emitted.on_cpu_ns);
      cell.unknown_ns = Emit64(total.unknown_ns, &emitted.unknown_ns);
      // The parts make the sum; the on-CPU part gives way where a torn read
      // would put the sum outside of what the buckets allow.
      const Bounds bounds = SumBounds(cell.hold.buckets);
      const uint64_t rest =
          cell.runnable.sum_ns + cell.blocked.sum_ns + cell.unknown_ns;
      const uint64_t low = bounds.low_ns > rest ? bounds.low_ns - rest : 0;
      const uint64_t high = bounds.high_ns > rest ? bounds.high_ns - rest : 0;
      const uint64_t on_cpu = std::clamp(cell.on_cpu_ns, low, high);
      emitted.on_cpu_ns += on_cpu - cell.on_cpu_ns;
      cell.on_cpu_ns = on_cpu;
      cell.hold.sum_ns = rest + on_cpu;
    }
    const uint64_t waits = cell.contended;
    cell.waits_owner_running = Emit64(total.waits_owner_running,
                                      &emitted.waits_owner_running, 0, waits);
    cell.waits_owner_runnable =
        Emit64(total.waits_owner_runnable, &emitted.waits_owner_runnable, 0,
               waits - cell.waits_owner_running);
    cell.waits_owner_blocked =
        Emit64(total.waits_owner_blocked, &emitted.waits_owner_blocked, 0,
               waits - cell.waits_owner_running - cell.waits_owner_runnable);
    cell.wait_owner_runnable_ns =
        Emit64(total.wait_owner_runnable_ns, &emitted.wait_owner_runnable_ns, 0,
               cell.wait.sum_ns);
    cell.inversions = Emit64(total.inversions, &emitted.inversions, 0, waits);
    if (meaning.only_if_used && cell.Empty() && used_.count(index) == 0) {
      continue;
    }
    used_.insert(index);
    (*index_of)[index] = static_cast<uint32_t>(out.size());
    out.push_back(std::move(cell));
  }
  return out;
}

void WindowBuilder::AddTop(const std::vector<sl_top_hold>& records) {
  pending_.insert(pending_.end(), records.begin(), records.end());
}

std::vector<Hold> WindowBuilder::TakeTop(
    uint32_t window, uint64_t start_monotonic_ns,
    const std::map<int, uint32_t>& index_of) {
  std::vector<sl_top_hold> here;
  std::vector<sl_top_hold> later;
  for (const sl_top_hold& record : pending_) {
    // Window numbers are 32 bits and may wrap; they are never far apart.
    const auto ahead = static_cast<int32_t>(record.window - window);
    if (ahead == 0) here.push_back(record);
    if (ahead > 0) later.push_back(record);
  }
  pending_ = std::move(later);
  std::sort(here.begin(), here.end(),
            [](const sl_top_hold& a, const sl_top_hold& b) {
              return a.hold_ns > b.hold_ns;
            });
  std::vector<Hold> out;
  for (const sl_top_hold& r : here) {
    if (out.size() >= static_cast<size_t>(top_k_)) break;
    const auto cell = index_of.find(static_cast<int>(r.cell));
    if (cell == index_of.end()) continue;
    Hold h;
    h.cell = cell->second;
    h.acquired_offset_ns =
        static_cast<int64_t>(r.acquired_ns - start_monotonic_ns);
    h.hold_ns = r.hold_ns;
    h.on_cpu_ns = r.on_cpu_ns;
    h.runnable_ns = r.runnable_ns;
    h.blocked_ns = r.blocked_ns;
    h.unknown_ns = r.unknown_ns;
    h.wait_ns = r.wait_ns;
    h.pid = r.pid;
    h.tgid = r.tgid;
    h.comm.assign(r.comm, strnlen(r.comm, sizeof(r.comm)));
    h.nice = r.static_prio - 120;  // include/linux/sched/prio.h, DEFAULT_PRIO
    h.policy = r.policy;
    h.acquire_cpu = r.acquire_cpu;
    h.release_cpu = r.release_cpu;
    h.preemptions = r.preemptions;
    out.push_back(std::move(h));
  }
  return out;
}

}  // namespace swaplock
