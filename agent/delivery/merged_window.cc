#include "agent/delivery/merged_window.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace swaplock {
namespace {

// Adds the cell to its like in `cells` and returns the index there.
uint32_t MergeCell(const Cell& cell, std::vector<Cell>* cells) {
  for (size_t i = 0; i < cells->size(); ++i) {
    if ((*cells)[i].key == cell.key) {
      (*cells)[i].Merge(cell);
      return static_cast<uint32_t>(i);
    }
  }
  cells->push_back(cell);
  return static_cast<uint32_t>(cells->size() - 1);
}

void MergeProbes(const std::vector<Probe>& earlier,
                 std::vector<Probe>* probes) {
  for (Probe& probe : *probes) {
    const auto same =
        std::find_if(earlier.begin(), earlier.end(),
                     [&](const Probe& p) { return p.name == probe.name; });
    if (same == earlier.end()) continue;
    probe.runs += same->runs;
    probe.run_time_ns += same->run_time_ns;
    probe.misses += same->misses;
  }
}

// What waited is that of the later window; the rest adds up.
void AddSince(const Delivery& earlier, Delivery* delivery) {
  for (uint64_t Delivery::*field :
       {&Delivery::merged, &Delivery::lost, &Delivery::damaged,
        &Delivery::disk_errors, &Delivery::held, &Delivery::streams,
        &Delivery::postponed, &Delivery::refused, &Delivery::in_doubt}) {
    delivery->*field += earlier.*field;
  }
}

}  // namespace

bool CanMerge(const Window& first, const Window& second) {
  return first.key.host_id == second.key.host_id &&
         first.key.boot_id == second.key.boot_id &&
         first.key.epoch == second.key.epoch &&
         first.key.seq + WindowsIn(second) == second.key.seq &&
         first.environment.kernel_release ==
             second.environment.kernel_release &&
         first.environment.kernel_build_id ==
             second.environment.kernel_build_id &&
         first.coverage.fingerprint == second.coverage.fingerprint;
}

Window Merged(const Window& first, const Window& second) {
  Window merged = second;
  merged.start_boottime_ns = first.start_boottime_ns;
  merged.suspended_ns += first.suspended_ns;
  merged.merged = static_cast<uint32_t>(WindowsIn(first) + WindowsIn(second));
  MergeProbes(first.coverage.probes, &merged.coverage.probes);
  for (const auto& [reason, events] : first.losses) {
    merged.losses[reason] += events;
  }
  merged.overhead.agent_cpu_ns += first.overhead.agent_cpu_ns;
  merged.overhead.timing_shift =
      std::max(first.overhead.timing_shift, second.overhead.timing_shift);
  if (merged.overhead.delivery.has_value() &&
      first.overhead.delivery.has_value()) {
    AddSince(*first.overhead.delivery, &*merged.overhead.delivery);
  }
  merged.context = Merged(first.context, second.context);

  const auto moved =
      static_cast<int64_t>(second.start_boottime_ns - first.start_boottime_ns);
  for (auto* holds : {&merged.top_holds, &merged.holds_in_progress}) {
    for (Hold& hold : *holds) hold.acquired_offset_ns += moved;
  }
  std::vector<uint32_t> cell_of_first;
  for (const Cell& cell : first.cells) {
    cell_of_first.push_back(MergeCell(cell, &merged.cells));
  }
  for (Hold hold : first.top_holds) {
    hold.cell = cell_of_first[hold.cell];
    merged.top_holds.push_back(std::move(hold));
  }
  std::stable_sort(
      merged.top_holds.begin(), merged.top_holds.end(),
      [](const Hold& a, const Hold& b) { return a.hold_ns > b.hold_ns; });
  merged.top_holds.resize(
      std::max(first.top_holds.size(), second.top_holds.size()));
  return merged;
}

}  // namespace swaplock
