#include "tests/load/fleet_windows.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "server/replay/host_calendar.h"
#include "server/verdict/rollout.h"

namespace swaplock {
namespace {

constexpr uint64_t kMs = 1'000'000;

void AddMany(uint64_t count, uint64_t ns, Distribution* out) {
  if (count == 0) return;
  out->buckets.AddToBucket(Histogram::IndexOf(ns), count);
  out->sum_ns += count * ns;
  out->max_ns = std::max(out->max_ns, ns);
  if (ns > kMs) out->over_1ms += count;
  if (ns > 10 * kMs) out->over_10ms += count;
  if (ns > 100 * kMs) out->over_100ms += count;
}

// Waits of 150 ms, 20 ms, 2 ms and 20 us; each of the waits over 10 ms is
// behind a hold with as much of the runnable time as the others.
Cell CellOf(const OperationKey& key, const OperationCounts& counts) {
  Cell cell;
  cell.key.subsystem = key.first;
  cell.key.operation = key.second;
  cell.key.role = Role::kStream;
  cell.key.mode = Mode::kExclusive;
  cell.key.device = key.first == Subsystem::kZram ? "zram0" : "";
  cell.key.algorithm = "zstd";
  cell.lock_model = counts.measured.lock_model;
  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kExact;
  cell.acquisitions = counts.operations;
  cell.contended = std::max(counts.contended, counts.waits_over_1ms);
  const uint64_t over_100ms = counts.waits_over_100ms;
  const uint64_t over_10ms = counts.waits_over_10ms - over_100ms;
  const uint64_t over_1ms = counts.waits_over_1ms - counts.waits_over_10ms;
  AddMany(over_100ms, 150 * kMs, &cell.wait);
  AddMany(over_10ms, 20 * kMs, &cell.wait);
  AddMany(over_1ms, 2 * kMs, &cell.wait);
  AddMany(cell.contended - counts.waits_over_1ms, 20'000, &cell.wait);
  cell.waits_owner_running = cell.contended;
  const uint64_t held = std::min(counts.waits_over_10ms, cell.acquisitions);
  const uint64_t each = held == 0 ? 0 : counts.runnable_ns / held;
  AddMany(held, each, &cell.runnable);
  AddMany(held, each + 20'000, &cell.hold);
  AddMany(cell.acquisitions - held, 20'000, &cell.hold);
  cell.preempted_ns = cell.runnable.sum_ns;
  cell.on_cpu_ns = cell.hold.sum_ns - cell.runnable.sum_ns;
  return cell;
}

Cell WholeOf(const OperationKey& key, const OperationCounts& counts) {
  Cell cell;
  cell.key.subsystem = key.first;
  cell.key.operation = key.second;
  cell.key.device = key.first == Subsystem::kZram ? "zram0" : "";
  cell.key.algorithm = "zstd";
  cell.lock_model = counts.measured.lock_model;
  cell.latency_tier = Tier::kExact;
  AddMany(counts.slow_operations, 20 * kMs, &cell.latency);
  AddMany(counts.timed_operations - counts.slow_operations, 40'000,
          &cell.latency);
  return cell;
}

HostCalendar CalendarOf(const Rollout& rollout, const HostChange& host) {
  HostCalendar calendar;
  calendar.host_id = host.host_id;
  calendar.boot_day = host.boot_day;
  calendar.rebooted = host.rebooted;
  Environment& before = calendar.before;
  before.kernel_release = rollout.kernel_base;
  before.kernel_version = "#1 SMP PREEMPT_DYNAMIC simulated";
  before.kernel_build_id = host.build_before;
  before.architecture = "x86_64";
  before.cpus = 8;
  before.memory_bytes = 16ull << 30;
  before.preempt = "none";
  before.page_cluster = 0;
  before.agent_version = "0.1.0";
  before.swap_backend = "zram";
  for (const auto& [name, value] : host.keys) before.labels[name] = value;
  calendar.after = before;
  if (host.arm == Arm::kTreated) {
    calendar.after.kernel_release = rollout.kernel_new;
    calendar.after.kernel_build_id = host.build_after;
    calendar.after.preempt = "lazy";
  }
  return calendar;
}

}  // namespace

std::vector<Window> FleetWindows(const Scenario& scenario, uint64_t seed) {
  const SimulatedFleet fleet = DrawFleet(scenario, seed, true);
  std::vector<Window> windows;
  for (size_t i = 0; i < fleet.rollout.hosts.size(); ++i) {
    const HostChange& host = fleet.rollout.hosts[i];
    const HostCalendar calendar = CalendarOf(fleet.rollout, host);
    const auto before = static_cast<size_t>(host.before->days);
    const size_t days = fleet.days[i].begin()->second.size();
    for (size_t d = 0; d < (host.vanished ? before : days); ++d) {
      const int64_t day =
          d < before ? host.before->first_day + static_cast<int64_t>(d)
                     : host.after->first_day + static_cast<int64_t>(d - before);
      Window window = WindowOfDay(calendar, day);
      for (const auto& [key, counts] : fleet.days[i]) {
        window.cells.push_back(CellOf(key, counts[d]));
        window.cells.push_back(WholeOf(key, counts[d]));
      }
      std::sort(window.cells.begin(), window.cells.end(),
                [](const Cell& a, const Cell& b) { return a.key < b.key; });
      if (d >= before && host.after->events_lost > 0) {
        window.losses[LossReason::kAcquireUnseen] =
            host.after->events_lost / (days - before);
      }
      window.coverage.fingerprint = Fingerprint({}, window.cells);
      windows.push_back(std::move(window));
    }
  }
  SortByTime(&windows);
  return windows;
}

}  // namespace swaplock
