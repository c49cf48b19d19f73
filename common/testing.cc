#include "common/testing.h"

namespace swaplock {
namespace {

// 16 bytes that follow from the host's name (FNV-1a, twice).
std::string BootIdOf(absl::string_view host) {
  std::string boot_id;
  for (const uint64_t start : {0xcbf29ce484222325, 0x84222325cbf29ce4}) {
    uint64_t hash = start;
    for (const char c : host) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    for (int i = 0; i < 8; ++i) {
      boot_id.push_back(static_cast<char>(hash >> (8 * i)));
    }
  }
  return boot_id;
}

}  // namespace

Cell MakeCell(Subsystem subsystem, Operation operation, Role role) {
  Cell cell;
  cell.key = {subsystem, operation, role, Mode::kExclusive, "zram0", "zstd"};
  cell.lock_model = LockModel::kMutex;
  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kContention;
  return cell;
}

void AddHold(Cell* cell, uint64_t on_cpu_ns, uint64_t runnable_ns,
             uint64_t blocked_ns, uint64_t wait_ns) {
  ++cell->acquisitions;
  cell->hold.Add(on_cpu_ns + runnable_ns + blocked_ns);
  cell->on_cpu_ns += on_cpu_ns;
  if (runnable_ns > 0) cell->runnable.Add(runnable_ns);
  if (blocked_ns > 0) cell->blocked.Add(blocked_ns);
  if (wait_ns == 0) return;
  ++cell->contended;
  ++cell->waits_owner_running;
  cell->wait.Add(wait_ns);
}

Window MakeWindow(absl::string_view host, uint64_t seq,
                  absl::string_view kernel) {
  Window window;
  window.key = {std::string(host), BootIdOf(host), 1, seq};
  window.start_boottime_ns = (seq - 1) * kTestWindowNs;
  window.end_boottime_ns = seq * kTestWindowNs;
  window.end_unix_ns = kTestUnixNs + seq * kTestWindowNs;
  window.environment.kernel_release = std::string(kernel);
  window.environment.architecture = "x86_64";
  window.environment.cpus = 2;
  window.environment.memory_bytes = uint64_t{1} << 30;
  window.environment.preempt = "lazy";
  window.environment.page_cluster = 0;
  window.environment.agent_version = "test";
  window.environment.swap_backend = "zram";

  Cell write = MakeCell(Subsystem::kZram, Operation::kWrite, Role::kStream);
  AddHold(&write, 1'000'000);
  AddHold(&write, 2'000'000, 10'000'000);
  AddHold(&write, 100'000, 0, 0, 20'000'000);
  window.cells.push_back(write);
  Cell read = MakeCell(Subsystem::kZram, Operation::kRead, Role::kStream);
  AddHold(&read, 50'000);
  AddHold(&read, 50'000);
  window.cells.push_back(read);

  Hold longest;
  longest.cell = 0;
  longest.acquired_offset_ns = 5'000'000'000;
  longest.hold_ns = 12'000'000;
  longest.on_cpu_ns = 2'000'000;
  longest.runnable_ns = 10'000'000;
  longest.pid = 77;
  longest.tgid = 77;
  longest.comm = "writer";
  longest.nice = 10;
  longest.preemptions = 1;
  window.top_holds.push_back(longest);

  window.losses[LossReason::kRecursion] = 1;
  window.coverage.probes = {
      {"fexit/zcomp_stream_get", ProbeState::kAttached, "", 0, 0, 0},
      {"fexit/zswap_store", ProbeState::kRefused, "attach: EINVAL", 0, 0, 0}};
  window.coverage.not_measured = {"zswap: attach fexit/zswap_store: EINVAL"};
  window.coverage.fingerprint =
      Fingerprint(window.coverage.probes, window.cells);
  window.overhead.agent_cpu_ns = 30'000'000;
  return window;
}

}  // namespace swaplock
