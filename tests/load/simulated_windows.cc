#include "tests/load/simulated_windows.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_format.h"
#include "common/testing.h"

namespace swaplock {
namespace {

using Random = std::mt19937_64;

constexpr int kHolds = 400;      // of each lock cell
constexpr size_t kTopHolds = 8;  // of a window
constexpr absl::Duration kWindow = absl::Seconds(10);

// Log-normal nanoseconds with this median.
uint64_t Draw(double median_ns, Random* random) {
  std::lognormal_distribution<double> draw(std::log(median_ns), 1);
  return static_cast<uint64_t>(std::min(draw(*random), 5e9));
}

bool OneIn(int times, Random* random) {
  return std::uniform_int_distribution<int>(1, times)(*random) == 1;
}

Cell LockCell(Operation operation, double median_ns, Random* random) {
  Cell cell = MakeCell(Subsystem::kZram, operation, Role::kStream);
  for (int i = 0; i < kHolds; ++i) {
    const uint64_t runnable_ns = OneIn(20, random) ? Draw(3e6, random) : 0;
    AddHold(&cell, Draw(median_ns, random), runnable_ns,
            OneIn(100, random) ? Draw(1e6, random) : 0,
            OneIn(8, random) ? Draw(2e5, random) : 0);
  }
  cell.preempted_ns = cell.runnable.sum_ns;
  return cell;
}

Cell OperationCell(Operation operation, double median_ns, Random* random) {
  Cell cell;
  cell.key.subsystem = Subsystem::kZram;
  cell.key.operation = operation;
  cell.key.device = "zram0";
  cell.lock_model = LockModel::kMutex;
  cell.latency_tier = Tier::kExact;
  for (int i = 0; i < kHolds; ++i) cell.latency.Add(Draw(median_ns, random));
  return cell;
}

Hold TopHold(uint64_t hold_ns) {
  Hold hold;
  hold.acquired_offset_ns = 1'000'000'000;
  hold.hold_ns = hold_ns;
  hold.on_cpu_ns = hold_ns / 8;
  hold.runnable_ns = hold_ns - hold.on_cpu_ns;
  hold.preempted_ns = hold.runnable_ns;
  hold.pid = 1234;
  hold.tgid = 1234;
  hold.comm = "kswapd0";
  hold.preemptions = 1;
  hold.release_stack = {"zcomp_stream_put", "zram_submit_bio", "submit_bio"};
  return hold;
}

Window MakeOne(Random* random) {
  Window window = MakeWindow("load", 1, "6.18.15");
  window.environment.cpus = 16;
  window.cells = {LockCell(Operation::kWrite, 2e4, random),
                  LockCell(Operation::kRead, 5e3, random),
                  OperationCell(Operation::kWrite, 3e4, random),
                  OperationCell(Operation::kRead, 8e3, random)};
  window.top_holds.clear();
  std::vector<uint64_t> longest_ns(kTopHolds);
  for (uint64_t& hold_ns : longest_ns) hold_ns = Draw(5e6, random);
  std::sort(longest_ns.rbegin(), longest_ns.rend());
  for (const uint64_t hold_ns : longest_ns) {
    window.top_holds.push_back(TopHold(hold_ns));
  }
  window.losses.clear();
  window.coverage.fingerprint =
      Fingerprint(window.coverage.probes, window.cells);
  for (const char* name : {"vmstat/pswpin", "vmstat/pswpout",
                           "vmstat/pgmajfault", "psi/memory_some_us"}) {
    window.context.counters[name] = Draw(1e5, random);
  }
  window.context.gauges["meminfo/memavailable_bytes"] = Draw(1e9, random);
  return window;
}

}  // namespace

SimulatedWindows::SimulatedWindows(uint64_t seed, absl::Time start)
    : start_(start) {
  Random random(seed);
  for (size_t i = 0; i < kDifferent; ++i) {
    windows_.push_back(MakeOne(&random));
    messages_.push_back(ToProto(windows_.back()));
  }
}

std::string SimulatedWindows::HostId(uint64_t host) {
  return absl::StrFormat("load-%06d", host);
}

void SimulatedWindows::Fill(uint64_t host, uint64_t seq,
                            v1::Window* window) const {
  *window = messages_[IndexOf(host, seq)];
  window->set_host_id(HostId(host));
  // 16 bytes, a boot for each host.
  window->set_boot_id(absl::StrFormat("%016d", host));
  window->set_seq(seq);
  const auto begin =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds((seq - 1) * kWindow));
  const auto length = static_cast<uint64_t>(absl::ToInt64Nanoseconds(kWindow));
  window->set_start_boottime_ns(begin);
  window->set_end_boottime_ns(begin + length);
  window->set_end_unix_ns(static_cast<uint64_t>(
      absl::ToUnixNanos(start_ + static_cast<double>(seq) * kWindow)));
  // Every other host runs the newer kernel.
  if (host % 2 == 1) {
    window->mutable_environment()->set_kernel_release("6.18.16");
  }
  window->mutable_context()->set_complete(seq == 1);
}

Totals SimulatedWindows::Sum(const Counts& counts) const {
  Totals totals;
  for (size_t i = 0; i < kDifferent; ++i) {
    for (uint64_t n = counts[i]; n > 0; --n) totals.Add(windows_[i]);
  }
  return totals;
}

}  // namespace swaplock
