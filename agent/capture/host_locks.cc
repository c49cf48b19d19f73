#include "agent/capture/host_locks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/capture/device_cells.h"
#include "agent/capture/lock_finder.h"

namespace swaplock {
namespace {

// Holds of unknown compressors make the agent look again, but not sooner.
constexpr uint64_t kFindAgainNs = 5'000'000'000;

// Stacks of waiters on unknown mutexes that the programs may look at per tick,
// while zswap's lock has to be learned: 50 x 2 us.
constexpr int kStacksPerTick = 50;

// Reads the first sector past the page cache, so that the block layer shows
// the device to the disk_seen program.
void ReadOneSector(const std::string& device) {
  const int fd = open(absl::StrCat("/dev/", device).c_str(),
                      O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) return;
  void* buffer = nullptr;
  if (posix_memalign(&buffer, 4096, 4096) == 0) {
    if (pread(fd, buffer, 4096, 0) < 0) {
      // Nothing to do: the device is then not seen, and said to be so.
    }
    free(buffer);
  }
  close(fd);
}

uint64_t MonotonicNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(t.tv_nsec);
}

std::vector<std::pair<uint64_t, uint64_t>> ZswapText() {
  std::ifstream in("/proc/kallsyms");
  return FunctionRanges(in, {"zswap_store", "zswap_load", "zswap_decompress",
                             "zswap_frontswap_store", "zswap_frontswap_load",
                             "zswap_writeback_entry", "shrink_memcg_cb"});
}

}  // namespace

HostLocks::HostLocks(bool probe_zram_devices, WindowBuilder* builder)
    : probe_zram_devices_(probe_zram_devices), builder_(builder) {}

void HostLocks::Restart(const KernelSymbols* symbols, const Plan& loaded,
                        int cells_per_cpu, HoldSampler* sampler) {
  symbols_ = symbols;
  loaded_ = loaded;
  cells_per_cpu_ = cells_per_cpu;
  sampler_ = sampler;
  devices_ = ReadZramDevices();
  zswap_on_ = ZswapEnabled() || ZswapHoldsPages();
  zswap_switched_ = false;
  zswap_idle_looks_ = 0;
  plan_ = zswap_on_ ? loaded_ : WithoutZswap(loaded_);
  cpu_offsets_.clear();
  zswap_locks_.clear();
  zswap_pools_.clear();
  left_out_.clear();
  finding_failed_.clear();
  if (sampler_ == nullptr) return;
  for (int cpu = 0; cpu < sampler_->cpus(); ++cpu) {
    const absl::StatusOr<uint64_t> offset = sampler_->CpuOffset(cpu);
    if (!offset.ok()) {
      cpu_offsets_.clear();
      break;
    }
    cpu_offsets_.push_back(*offset);
  }
  if (!cpu_offsets_.empty()) sampler_->SetCpu0Offset(cpu_offsets_[0]);
  LookForZswapPools();
  if (plan_.zswap_hold == Tier::kOwnerProbe && !cpu_offsets_.empty()) {
    sampler_->LearnZswap(ZswapText());
  }
}

void HostLocks::Attach() {
  sampler_->Attach();
  if (zswap_on_) sampler_->SetZswapOn(true);
}

bool HostLocks::Changed() {
  if (ZswapSwitched()) zswap_switched_ = true;
  const bool zswap = ZswapChanged() || zswap_switched_;
  const bool learned = LearnedLocks() || UnknownCompressor() || zswap;
  return learned || devices_ != ReadZramDevices();
}

std::vector<std::string> HostLocks::NotMeasured() const {
  std::vector<std::string> out;
  if (plan_.zswap_hold == Tier::kOwnerProbe && zswap_locks_.empty()) {
    out.push_back(
        "zswap lock: nothing yet; without hooks its address is learned "
        "from the first task that waits for it.");
  }
  if (!finding_failed_.empty()) {
    out.push_back(
        absl::StrCat("waits on zram's locks: ", finding_failed_, "."));
  }
  if (!left_out_.empty()) {
    out.push_back(
        absl::StrCat(absl::StrJoin(left_out_, ", "),
                     " apart from other devices: more devices than cells; "
                     "their holds are counted together."));
  }
  return out;
}

bool HostLocks::ZswapSwitched() {
  if (sampler_ == nullptr || !CountsHolds(loaded_.zswap_hold)) return false;
  if (!zswap_on_) {
    if (!ZswapEnabled()) return false;
    // Before the window ends: the next one misses nothing, this one says that
    // it does not measure zswap.
    sampler_->SetZswapOn(true);
    return true;
  }
  if (ZswapEnabled() || ZswapHoldsPages()) {
    zswap_idle_looks_ = 0;
    return false;
  }
  return ++zswap_idle_looks_ >= 2;
}

void HostLocks::SwitchZswap() {
  zswap_switched_ = false;
  zswap_idle_looks_ = 0;
  zswap_on_ = !zswap_on_;
  if (!zswap_on_) sampler_->SetZswapOn(false);
  plan_ = zswap_on_ ? loaded_ : WithoutZswap(loaded_);
  zswap_pools_.clear();
  LookForZswapPools();
}

void HostLocks::Find() {
  if (zswap_switched_) SwitchZswap();
  devices_ = ReadZramDevices();
  if (sampler_ == nullptr) return;
  finding_failed_.clear();
  std::vector<DeviceLocks> found;
  if (probe_zram_devices_ && symbols_->Member("zram.mem_pool")) {
    const auto disks = sampler_->WatchDisks([&] {
      for (const ZramDevice& d : devices_) {
        if (d.disksize_bytes > 0) ReadOneSector(d.name);
      }
    });
    if (!disks.ok()) finding_failed_ = std::string(disks.status().message());
    for (const ZramDevice& d : devices_) {
      if (!disks.ok() || d.disksize_bytes == 0) continue;
      const auto at =
          std::find_if(disks->begin(), disks->end(),
                       [&](const auto& disk) { return disk.first == d.name; });
      if (at == disks->end()) {
        finding_failed_ =
            absl::StrCat(d.name, " could not be read to find its locks");
        continue;
      }
      absl::StatusOr<ZramLocks> locks = FindZramLocks(
          *symbols_,
          [&](uint64_t address, void* out, size_t bytes) {
            return sampler_->Peek(address, out, bytes);
          },
          at->second);
      if (locks.ok()) {
        found.push_back({d, at->second, *std::move(locks)});
      } else {
        finding_failed_ = absl::StrCat(d.name, ": ", locks.status().message());
      }
    }
  }
  LockTables tables = AssignCells(
      plan_, found, {zswap_algorithm_, zswap_locks_, ZswapPoolLocks()},
      cpu_offsets_, cells_per_cpu_, builder_);
  sampler_->SetComps(tables.comps);
  sampler_->SetZramDevices(tables.zram_devices);
  sampler_->SetLocks(tables.locks);
  sampler_->SetRows(plan_.Attaches("owner_switch")
                        ? tables.rows
                        : std::vector<sl_row>(tables.rows.size()));
  left_out_ = std::move(tables.left_out);
  found_ns_ = MonotonicNs();
  other_holds_ = OtherHolds();
}

bool HostLocks::UnknownCompressor() {
  if (sampler_ == nullptr || !CountsHolds(plan_.zram_hold)) return false;
  const uint64_t holds = OtherHolds();
  const bool news = holds != other_holds_;
  other_holds_ = holds;
  return news && left_out_.empty() && probe_zram_devices_ &&
         std::any_of(
             devices_.begin(), devices_.end(),
             [](const ZramDevice& d) { return d.disksize_bytes > 0; }) &&
         MonotonicNs() - found_ns_ > kFindAgainNs;
}

uint64_t HostLocks::OtherHolds() {
  uint64_t holds = 0;
  for (int op = 0; op < Lanes(plan_) * SL_OPS; ++op) {
    const sl_cell cell =
        sampler_->ReadCell(SL_BASE_ZRAM_OTHER + op, /*window=*/0);
    for (const uint32_t slot : cell.hold.slot) holds += slot;
  }
  return holds;
}

void HostLocks::LookForZswapPools() {
  zswap_algorithm_ = ZswapAlgorithm();
  const bool can = CountsHolds(plan_.zswap_hold) &&
                   symbols_->Member("zswap_pool.zs_pool") != nullptr;
  sampler_->WatchZswap(can);
}

std::vector<PoolLocks> HostLocks::ZswapPoolLocks() const {
  std::vector<PoolLocks> out;
  for (const uint64_t pool : zswap_pools_) {
    absl::StatusOr<PoolLocks> locks = FindZswapPoolLocks(
        *symbols_,
        [this](uint64_t address, void* to, size_t bytes) {
          return sampler_->Peek(address, to, bytes);
        },
        pool);
    if (locks.ok()) out.push_back(*std::move(locks));
  }
  return out;
}

bool HostLocks::ZswapChanged() {
  if (sampler_ == nullptr || !zswap_on_) return false;
  if (zswap_algorithm_ != ZswapAlgorithm()) {
    zswap_pools_.clear();
    LookForZswapPools();
    return true;
  }
  if (!zswap_pools_.empty()) return false;
  zswap_pools_ = sampler_->ZswapPools();
  if (zswap_pools_.empty()) return false;
  sampler_->WatchZswap(false);
  return true;
}

bool HostLocks::LearnedLocks() {
  if (sampler_ == nullptr || plan_.zswap_hold != Tier::kOwnerProbe) {
    return false;
  }
  bool news = false;
  for (const auto& [lock, cpu] : sampler_->TakeLearned(kStacksPerTick)) {
    if (static_cast<size_t>(cpu) >= cpu_offsets_.size()) continue;
    const uint64_t pointer = lock - cpu_offsets_[static_cast<size_t>(cpu)];
    if (std::find(zswap_locks_.begin(), zswap_locks_.end(), pointer) !=
        zswap_locks_.end()) {
      continue;
    }
    zswap_locks_.push_back(pointer);
    news = true;
  }
  return news;
}

}  // namespace swaplock
