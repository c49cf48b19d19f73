// Writes record files of a small fleet that has a value for every panel of the
// dashboard: `fleet_recording FOLDER` makes FOLDER/HOST.slk for each host.
//
// The windows of the measured hosts also carry what only pages and the command
// line show: why the longest hold was long, a hold in progress, a context.
//
// Eight hosts on 6.12.57 and eight on 6.18.15, the latter with four times as
// many waits over 10 ms, which is no verdict: that takes days. One host that
// sees owners only, one that cannot measure waits, and one whose windows are
// rejected. Windows are a second long and end now and later, to be replayed at
// their own speed.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/record_file.h"
#include "common/testing.h"
#include "common/window.h"

namespace swaplock {
namespace {

constexpr uint64_t kWindows = 120;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;
// Of a host's first window, and of the others.
constexpr int kFirstHolds = 120'000;
constexpr int kHolds = 2'000;

// A hold of every kind, and `long_waits` waits over 10 ms.
void Fill(Cell* cell, int holds, int long_waits) {
  for (int i = 0; i < holds; ++i) AddHold(cell, 20'000);
  for (int i = 0; i < 20; ++i) AddHold(cell, 20'000, 0, 0, 100'000);
  AddHold(cell, 2 * kMs, 15 * kMs);
  AddHold(cell, 5 * kMs, 115 * kMs);
  AddHold(cell, kMs, 0, 3 * kMs);
  AddHold(cell, kMs);
  cell->on_cpu_ns -= kMs / 2;
  cell->unknown_ns += kMs / 2;
  for (int i = 0; i < long_waits; ++i) AddHold(cell, 20'000, 0, 0, 12 * kMs);
  --cell->waits_owner_running;
  ++cell->waits_owner_runnable;
  cell->wait_owner_runnable_ns += 12 * kMs;
  ++cell->inversions;
  cell->preempted_ns += 100 * kMs;
  cell->throttled_ns += 10 * kMs;
  cell->woken_ns += 20 * kMs;
  ++cell->migrations;
}

// What writes took as a whole; the older kernel takes no lock for them.
Cell Writes(const std::string& kernel) {
  Cell cell = MakeCell(Subsystem::kZram, Operation::kWrite, Role::kUnspecified);
  cell.key.mode = Mode::kUnspecified;
  cell.hold_tier = cell.wait_tier = Tier::kUnspecified;
  cell.latency_tier = Tier::kExact;
  if (kernel == "6.12.57") cell.lock_model = LockModel::kNone;
  for (int i = 0; i < 100; ++i) cell.latency.Add(30'000);
  cell.latency.Add(20 * kMs);
  cell.latency.Add(120 * kMs);
  return cell;
}

Hold LongestHold() {
  Hold hold;
  hold.cell = 0;
  hold.hold_ns = 120 * kMs;
  hold.on_cpu_ns = 5 * kMs;
  hold.runnable_ns = 115 * kMs;
  hold.comm = "writer";
  hold.pid = hold.tgid = 207;
  hold.nice = 19;
  hold.preemptions = 1;
  hold.preempted_ns = 110 * kMs;
  hold.woken_ns = 2 * kMs;
  hold.migrations = 1;
  hold.preemptors = {{210, "hog", 0, 0, 105 * kMs, false},
                     {203, "kworker/0:1", 0, 0, 4 * kMs, false}};
  hold.waiters = {{209, "reader", -19, 0, 110 * kMs, true},
                  {205, "writer", 19, 0, 60 * kMs, false}};
  hold.stall_ns = 170 * kMs;
  hold.inversion_ns = 110 * kMs;
  hold.cgroup = "/batch.slice/fill.service";
  hold.switch_stack = {"__schedule",
                       "preempt_schedule_irq",
                       "asm_sysvec_apic_timer_interrupt",
                       "ZSTD_compressBlock_doubleFast",
                       "zcomp_compress",
                       "zram_write_page",
                       "zram_submit_bio"};
  hold.release_stack = {"zcomp_stream_put", "zram_write_page",
                        "zram_submit_bio"};
  return hold;
}

// The holder is preempted and has not come back yet.
Hold HoldInProgress(uint64_t seq) {
  Hold hold;
  hold.cell = 0;
  hold.on_cpu_ns = kMs;
  hold.runnable_ns = (20 + seq % 10) * kMs;
  hold.hold_ns = hold.on_cpu_ns + hold.runnable_ns;
  hold.comm = "writer";
  hold.pid = hold.tgid = 208;
  hold.nice = 19;
  hold.preemptions = 1;
  return hold;
}

// All of it in the first window of an agent's life, then what changed.
Context WhatElseWentOn(uint64_t seq) {
  Context context;
  context.counters = {{"vmstat/pswpout", 1000}};
  context.gauges = {{"psi/memory/some_avg10_ppm", 120'000 + seq * 100},
                    {"psi/cpu/some_avg10_ppm", 430'000},
                    {"zram/zram0/pool_bytes", (400 + seq) << 20}};
  context.complete = seq == 1;
  if (!context.complete) return context;
  context.gauges.insert({{"mem/available_bytes", uint64_t{3} << 30},
                         {"zram/zram0/disksize_bytes", uint64_t{4} << 30},
                         {"zram/zram0/orig_bytes", uint64_t{1} << 30}});
  context.facts = {{"cpu/family", "GenuineIntel 6 207"},
                   {"kernel/CONFIG_PREEMPT_LAZY", "y"},
                   {"sysctl/vm/swappiness", "100"},
                   {"zram/zram0/algorithms", "zstd"}};
  return context;
}

// The window with nothing in it.
Window Empty(const std::string& host, uint64_t seq, absl::string_view kernel,
             absl::Time start) {
  Window window = MakeWindow(host, seq, kernel);
  window.cells.clear();
  window.top_holds.clear();
  window.start_boottime_ns = (seq - 1) * kSecondNs;
  window.end_boottime_ns = seq * kSecondNs;
  window.end_unix_ns =
      static_cast<uint64_t>(absl::ToUnixNanos(start)) + seq * kSecondNs;
  return window;
}

void Measured(int long_waits, Window* window) {
  const int holds = window->key.seq == 1 ? kFirstHolds : kHolds;
  window->cells = {MakeCell(Subsystem::kZram, Operation::kWrite, Role::kStream),
                   MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream)};
  for (Cell& cell : window->cells) Fill(&cell, holds, long_waits);
  window->cells.push_back(Writes(window->environment.kernel_release));
  window->top_holds = {LongestHold()};
  window->holds_in_progress = {HoldInProgress(window->key.seq)};
  window->context = WhatElseWentOn(window->key.seq);
}

void OwnersOnly(Window* window) {
  Cell cell =
      MakeCell(Subsystem::kZswap, Operation::kUnspecified, Role::kUnspecified);
  cell.hold_tier = Tier::kOwnerProbe;
  cell.runnable.Add(12 * kMs);
  cell.blocked.Add(3 * kMs);
  cell.contended = 1;
  cell.waits_owner_runnable = 1;
  cell.wait.Add(10 * kMs);
  window->cells = {cell};
}

void WithoutWaits(Window* window) {
  Cell cell = MakeCell(Subsystem::kZram, Operation::kRecompress, Role::kStream);
  cell.wait_tier = Tier::kUnspecified;
  for (int i = 0; i < 10; ++i) AddHold(&cell, 30'000);
  window->cells = {cell};
}

// `fill` puts the cells into a window.
template <typename Fill>
absl::Status Record(const std::string& folder, const std::string& host,
                    absl::string_view kernel, absl::Time start, Fill fill) {
  auto writer = RecordWriter::Open(absl::StrCat(folder, "/", host, ".slk"));
  if (!writer.ok()) return writer.status();
  for (uint64_t seq = 1; seq <= kWindows; ++seq) {
    Window window = Empty(host, seq, kernel, start);
    fill(&window);
    window.coverage.fingerprint =
        Fingerprint(window.coverage.probes, window.cells);
    if (absl::Status s = (*writer)->Append(window); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status RecordFleet(const std::string& folder) {
  const absl::Time start = absl::Now();
  absl::Status status;
  for (int i = 0; i < 8; ++i) {
    status.Update(Record(folder, absl::StrCat("base", i), "6.12.57", start,
                         [i](Window* window) { Measured(2 + i % 2, window); }));
    status.Update(Record(folder, absl::StrCat("new", i), "6.18.15", start,
                         [i](Window* window) { Measured(8 + i % 2, window); }));
  }
  status.Update(Record(folder, "owners", "6.18.15", start, OwnersOnly));
  status.Update(Record(folder, "blind", "5.15.0", start, WithoutWaits));
  status.Update(
      Record(folder, "rejected", "6.18.15", start, [](Window* window) {
        Measured(0, window);
        window->environment.preempt = "a text with\na new line";
      }));
  return status;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fleet_recording FOLDER\n");
    return 2;
  }
  const absl::Status status = swaplock::RecordFleet(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "fleet_recording: %s\n", status.ToString().c_str());
  return 1;
}
