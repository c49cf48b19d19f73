#include "agent/capture/window_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/plain_text.h"

namespace swaplock {
namespace {

// What a counter grew by since the last window; it may have wrapped.
uint64_t Grown(uint64_t total, __u64* before) {
  const uint64_t out = total - *before;
  *before = total;
  return out;
}

uint32_t Grown(uint32_t total, __u32* before) {
  const uint32_t out = total - *before;
  *before = total;
  return out;
}

Distribution TakeDistribution(const sl_dist& total, sl_dist* before) {
  Distribution out;
  int highest = -1;
  for (int i = 0; i < SL_SLOTS; ++i) {
    const uint32_t n = Grown(total.slot[i], &before->slot[i]);
    if (n == 0) continue;
    highest = Histogram::kUnderflowIndex + i;
    out.buckets.AddToBucket(highest, n);
  }
  out.sum_ns = Grown(total.sum_ns, &before->sum_ns);
  out.over_1ms = Grown(total.over_1ms, &before->over_1ms);
  out.over_10ms = Grown(total.over_10ms, &before->over_10ms);
  out.over_100ms = Grown(total.over_100ms, &before->over_100ms);
  if (highest < 0) return out;
  // The maximum lies in the highest bucket. A value that a program was still
  // writing at the end of its window comes with the next one, but its maximum
  // was that window's: then the bucket's lower end stands in for it.
  const double low = std::floor(Histogram::LowerBoundNs(highest)) + 1;
  const double high =
      std::floor(std::min(Histogram::UpperBoundNs(highest), std::exp2(62)));
  out.max_ns = std::clamp(
      uint64_t{total.max_ns[0]},
      highest == Histogram::kUnderflowIndex ? 0 : static_cast<uint64_t>(low),
      static_cast<uint64_t>(high));
  return out;
}

}  // namespace

void WindowBuilder::SetMeaning(int index, CellMeaning meaning) {
  used_.erase(index);
  meaning.key.device = PlainText(meaning.key.device);
  meaning.key.algorithm = PlainText(meaning.key.algorithm);
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
    sl_cell& before = before_[index];
    Cell cell;
    cell.key = meaning.key;
    cell.lock_model = meaning.lock_model;
    cell.hold_tier = meaning.hold_tier;
    cell.wait_tier = meaning.wait_tier;
    cell.wait = TakeDistribution(total.wait, &before.wait);
    cell.contended = cell.wait.Count();
    cell.hold = TakeDistribution(total.hold, &before.hold);
    cell.acquisitions =
        cell.hold.Count() + Grown(total.untimed, &before.untimed);
    cell.runnable = TakeDistribution(total.runnable, &before.runnable);
    cell.blocked = TakeDistribution(total.blocked, &before.blocked);
    cell.on_cpu_ns = Grown(total.on_cpu_ns, &before.on_cpu_ns);
    cell.unknown_ns = Grown(total.unknown_ns, &before.unknown_ns);
    cell.waits_owner_running =
        Grown(total.waits_owner_running, &before.waits_owner_running);
    cell.waits_owner_runnable =
        Grown(total.waits_owner_runnable, &before.waits_owner_runnable);
    cell.waits_owner_blocked =
        Grown(total.waits_owner_blocked, &before.waits_owner_blocked);
    cell.wait_owner_runnable_ns =
        Grown(total.wait_owner_runnable_ns, &before.wait_owner_runnable_ns);
    cell.inversions = Grown(total.inversions, &before.inversions);
    cell.preempted_ns = Grown(total.preempted_ns, &before.preempted_ns);
    cell.woken_ns = Grown(total.woken_ns, &before.woken_ns);
    cell.throttled_ns = Grown(total.throttled_ns, &before.throttled_ns);
    cell.migrations = Grown(total.migrations, &before.migrations);
    if (meaning.only_if_used && cell.Empty() && used_.count(index) == 0) {
      continue;
    }
    used_.insert(index);
    (*index_of)[index] = static_cast<uint32_t>(out.size());
    out.push_back(std::move(cell));
  }
  return out;
}

void WindowBuilder::SetLatencyMeaning(int index, LatencyMeaning meaning) {
  latency_used_.erase(index);
  meaning.key.device = PlainText(meaning.key.device);
  meaning.key.algorithm = PlainText(meaning.key.algorithm);
  latency_meanings_[index] = std::move(meaning);
}

std::vector<Cell> WindowBuilder::TakeOperations(
    const std::map<int, sl_dist>& totals) {
  std::map<CellKey, Cell> out;
  for (const auto& [index, meaning] : latency_meanings_) {
    const auto at = totals.find(index);
    if (at == totals.end()) continue;
    Cell cell;
    cell.key = meaning.key;
    cell.lock_model = meaning.lock_model;
    cell.latency_tier = meaning.tier;
    cell.latency = TakeDistribution(at->second, &latency_before_[index]);
    if (!cell.Empty()) latency_used_.insert(index);
    if (meaning.only_if_used && latency_used_.count(index) == 0) continue;
    const auto [same, news] = out.emplace(meaning.key, cell);
    if (news || cell.Empty()) continue;
    if (same->second.Empty()) {
      same->second = std::move(cell);
    } else {
      same->second.Merge(cell);
    }
  }
  std::vector<Cell> cells;
  cells.reserve(out.size());
  for (auto& [key, cell] : out) cells.push_back(std::move(cell));
  return cells;
}

}  // namespace swaplock
