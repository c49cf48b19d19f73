#include "agent/capture/hold_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/bpf/hold_sampler.skel.h"

namespace swaplock {
namespace {

size_t PageUp(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Elements of an array map lie at multiples of 8 bytes.
static_assert(sizeof(sl_cell) % 8 == 0 && sizeof(sl_cpu) % 8 == 0 &&
              sizeof(sl_latency) % 8 == 0);

// What lies at `at`, in one piece although a program may be writing it; else
// what `copies` has of it from before. nullptr when nothing was ever written
// there, and then nothing is kept either: most cells of most CPUs are like
// that.
template <typename T>
const T* StableCopy(const T* at, int position, std::map<int, T>* copies) {
  const auto* sequence =
      reinterpret_cast<const std::atomic<uint32_t>*>(&at->sequence);
  if (sequence->load(std::memory_order_acquire) == 0) return nullptr;
  T* stable = &(*copies)[position];
  for (int attempt = 0; attempt < 16; ++attempt) {
    const uint32_t before = sequence->load(std::memory_order_acquire);
    if ((before & 1) != 0) continue;
    T copy;
    memcpy(&copy, at, sizeof(copy));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (sequence->load(std::memory_order_relaxed) == before) {
      *stable = copy;
      break;
    }
  }
  return stable;
}

void AddDist(const sl_dist& from, uint32_t window, sl_dist* to) {
  for (int i = 0; i < SL_SLOTS; ++i) to->slot[i] += from.slot[i];
  to->over_1ms += from.over_1ms;
  to->over_10ms += from.over_10ms;
  to->over_100ms += from.over_100ms;
  to->sum_ns += from.sum_ns;
  const uint32_t slot = window & 1;
  if (from.max_window[slot] == window) {
    to->max_ns[0] = std::max(to->max_ns[0], from.max_ns[slot]);
  }
}

}  // namespace

// Who gets what comes through the ring.
struct HoldSampler::Ring {
  ring_buffer* buffer = nullptr;
  const std::function<void(const sl_top_hold&)>* on_hold = nullptr;
  const std::function<void(const sl_top_wait&)>* on_wait = nullptr;
  ~Ring() { ring_buffer__free(buffer); }
};

HoldSampler::HoldSampler(std::unique_ptr<HoldPrograms> programs,
                         int cells_per_cpu)
    : programs_(std::move(programs)),
      s_(programs_->skeleton()),
      cpus_(programs_->cpus()),
      cells_per_cpu_(cells_per_cpu) {}

HoldSampler::~HoldSampler() {
  bpf_link__destroy(holds_now_);
  if (cells_ != nullptr) munmap(const_cast<sl_cell*>(cells_), cells_bytes_);
  if (latencies_ != nullptr) {
    munmap(const_cast<sl_latency*>(latencies_), latencies_bytes_);
  }
  if (cpu_ != nullptr) munmap(const_cast<sl_cpu*>(cpu_), cpu_bytes_);
}

absl::StatusOr<std::unique_ptr<HoldSampler>> HoldSampler::Load(
    const KernelSymbols& symbols, const Plan& plan, int cells_per_cpu) {
  absl::StatusOr<std::unique_ptr<HoldPrograms>> programs =
      HoldPrograms::Load(symbols, plan, cells_per_cpu);
  if (!programs.ok()) return programs.status();
  std::unique_ptr<HoldSampler> sampler(
      new HoldSampler(*std::move(programs), cells_per_cpu));
  const absl::Status status = sampler->MapMemory();
  if (!status.ok()) return status;
  return sampler;
}

absl::Status HoldSampler::MapMemory() {
  hold_sampler* s = s_;
  cells_bytes_ =
      PageUp(sizeof(sl_cell) * static_cast<size_t>(cpus_ * cells_per_cpu_));
  cpu_bytes_ = PageUp(sizeof(sl_cpu) * static_cast<size_t>(cpus_));
  void* cells = mmap(nullptr, cells_bytes_, PROT_READ, MAP_SHARED,
                     bpf_map__fd(s->maps.cells), 0);
  if (cells == MAP_FAILED) return BpfError("map the cells", errno);
  cells_ = static_cast<const sl_cell*>(cells);
  latencies_bytes_ =
      PageUp(sizeof(sl_latency) * static_cast<size_t>(cpus_) * SL_LATENCIES);
  void* latencies = mmap(nullptr, latencies_bytes_, PROT_READ, MAP_SHARED,
                         bpf_map__fd(s->maps.latencies), 0);
  if (latencies == MAP_FAILED) return BpfError("map the latencies", errno);
  latencies_ = static_cast<const sl_latency*>(latencies);
  void* cpus = mmap(nullptr, cpu_bytes_, PROT_READ, MAP_SHARED,
                    bpf_map__fd(s->maps.cpus), 0);
  if (cpus == MAP_FAILED) return BpfError("map the per-CPU state", errno);
  cpu_ = static_cast<const sl_cpu*>(cpus);
  ring_ = std::make_unique<Ring>();
  ring_->buffer = ring_buffer__new(
      bpf_map__fd(s->maps.top_ring),
      [](void* context, void* record, size_t bytes) {
        const auto* ring = static_cast<const Ring*>(context);
        uint32_t kind = 0;
        if (bytes >= sizeof(kind)) memcpy(&kind, record, sizeof(kind));
        if (kind == SL_RECORD_HOLD && bytes >= sizeof(sl_top_hold)) {
          (*ring->on_hold)(*static_cast<const sl_top_hold*>(record));
        } else if (kind == SL_RECORD_WAIT && bytes >= sizeof(sl_top_wait)) {
          (*ring->on_wait)(*static_cast<const sl_top_wait*>(record));
        }
        return 0;
      },
      ring_.get(), nullptr);
  if (ring_->buffer == nullptr) return BpfError("open the ring", errno);
  bpf_map* map;
  bpf_object__for_each_map(map, s->obj) {
    map_bytes_ += static_cast<uint64_t>(bpf_map__value_size(map)) *
                  bpf_map__max_entries(map);
  }
  map_bytes_ += bpf_map__max_entries(s->maps.top_ring);
  return absl::OkStatus();
}

sl_cell HoldSampler::ReadCell(int index, uint32_t window) {
  sl_cell total = {};
  for (int cpu = 0; cpu < cpus_; ++cpu) {
    const int position = cpu * cells_per_cpu_ + index;
    const sl_cell* stable =
        StableCopy(cells_ + position, position, &stable_cells_);
    if (stable == nullptr) continue;
    const sl_cell& copy = *stable;
    total.on_cpu_ns += copy.on_cpu_ns;
    total.unknown_ns += copy.unknown_ns;
    total.waits_owner_running += copy.waits_owner_running;
    total.waits_owner_runnable += copy.waits_owner_runnable;
    total.waits_owner_blocked += copy.waits_owner_blocked;
    total.wait_owner_runnable_ns += copy.wait_owner_runnable_ns;
    total.inversions += copy.inversions;
    total.untimed += copy.untimed;
    total.preempted_ns += copy.preempted_ns;
    total.woken_ns += copy.woken_ns;
    total.throttled_ns += copy.throttled_ns;
    total.migrations += copy.migrations;
    AddDist(copy.wait, window, &total.wait);
    AddDist(copy.hold, window, &total.hold);
    AddDist(copy.runnable, window, &total.runnable);
    AddDist(copy.blocked, window, &total.blocked);
  }
  return total;
}

sl_dist HoldSampler::ReadLatency(int index, uint32_t window) {
  sl_dist total = {};
  for (int cpu = 0; cpu < cpus_; ++cpu) {
    const int position = cpu * SL_LATENCIES + index;
    const sl_latency* stable =
        StableCopy(latencies_ + position, position, &stable_latencies_);
    if (stable != nullptr) AddDist(stable->operations, window, &total);
  }
  return total;
}

std::vector<uint64_t> HoldSampler::ReadLosses() const {
  std::vector<uint64_t> out(SL_LOSSES);
  for (int cpu = 0; cpu < cpus_; ++cpu) {
    for (size_t i = 0; i < SL_LOSSES; ++i) {
      out[i] += *const_cast<const volatile __u64*>(&cpu_[cpu].loss[i]);
    }
  }
  return out;
}

void HoldSampler::DrainTop(
    const std::function<void(const sl_top_hold&)>& hold,
    const std::function<void(const sl_top_wait&)>& wait) {
  ring_->on_hold = &hold;
  ring_->on_wait = &wait;
  ring_buffer__consume(ring_->buffer);
}

std::vector<sl_hold_facts> HoldSampler::ReadHoldsInProgress() {
  std::vector<sl_hold_facts> out;
  bpf_program* program = s_->progs.holds_now;
  if (!bpf_program__autoload(program)) return out;
  if (holds_now_ == nullptr) {
    holds_now_ = bpf_program__attach_iter(program, nullptr);
  }
  if (holds_now_ == nullptr) return out;
  const int fd = bpf_iter_create(bpf_link__fd(holds_now_));
  if (fd < 0) return out;
  std::string bytes;
  char buffer[16 * sizeof(sl_hold_facts)];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    bytes.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  out.resize(bytes.size() / sizeof(sl_hold_facts));
  memcpy(out.data(), bytes.data(), out.size() * sizeof(sl_hold_facts));
  return out;
}

void HoldSampler::SetWindow(uint32_t window) {
  *const_cast<volatile __u32*>(&s_->data->window) = window;
}

void HoldSampler::SetComps(const std::vector<sl_comp>& comps) {
  for (size_t i = 0; i < SL_COMPS; ++i) {
    sl_comp& slot = s_->bss->comps[i];
    const sl_comp wanted = i < comps.size() ? comps[i] : sl_comp{};
    // A program that reads between these sees a compressor that is nobody's.
    *const_cast<volatile __u64*>(&slot.comp) = 0;
    *const_cast<volatile __u32*>(&slot.base) = wanted.base;
    *const_cast<volatile __u64*>(&slot.comp) = wanted.comp;
  }
}

void HoldSampler::SetZramDevices(
    const std::vector<sl_zram_device>& zram_devices) {
  for (size_t i = 0; i < SL_ZRAM_DEVICES; ++i) {
    sl_zram_device& slot = s_->bss->zram_devices[i];
    const sl_zram_device wanted =
        i < zram_devices.size() ? zram_devices[i] : sl_zram_device{};
    *const_cast<volatile __u64*>(&slot.zram) = 0;  // as in SetComps
    *const_cast<volatile __u32*>(&slot.base) = wanted.base;
    *const_cast<volatile __u64*>(&slot.zram) = wanted.zram;
  }
}

void HoldSampler::SetCpu0Offset(uint64_t offset) {
  *const_cast<volatile __u64*>(&s_->bss->cpu0_offset) = offset;
}

void HoldSampler::SetTimingShift(uint32_t shift) {
  *const_cast<volatile __u32*>(&s_->bss->timing_shift) =
      std::min<uint32_t>(shift, 16);
}

absl::StatusOr<HoldSampler::Calibration> HoldSampler::Calibrate() {
  constexpr size_t kRuns = 255;
  auto* bss = s_->bss;
  const bpf_program* program = s_->progs.calibrate;
  if (!bpf_program__autoload(program)) {
    return absl::UnavailableError("this kernel did not take the program");
  }
  volatile __u64* armed =
      const_cast<volatile __u64*>(&bss->armed_ns[SL_CLASS_ZRAM]);
  std::vector<uint64_t> clock, cost, hold;
  *armed = 1;
  for (size_t i = 0; i < kRuns; ++i) {
    LIBBPF_OPTS(bpf_test_run_opts, options);
    const int error =
        bpf_prog_test_run_opts(bpf_program__fd(program), &options);
    if (error != 0) {
      *armed = 0;
      return BpfError("run the calibration program", -error);
    }
    clock.push_back(bss->calibration_clock_ns);
    cost.push_back(bss->calibration_cost_ns);
    hold.push_back(bss->calibration_hold_ns);
  }
  *armed = 0;
  const auto median = [](std::vector<uint64_t>* values) {
    const auto middle = values->begin() + values->size() / 2;
    std::nth_element(values->begin(), middle, values->end());
    return static_cast<uint32_t>(*middle);
  };
  Calibration out;
  out.clock_ns = median(&clock);
  out.cost_ns = median(&cost);
  out.cost_ns -= std::min(out.cost_ns, out.clock_ns);
  out.hold_ns = median(&hold);
  // The longest of them are nobody's holds.
  DrainTop([](const sl_top_hold&) {}, [](const sl_top_wait&) {});
  return out;
}

void HoldSampler::SetLocks(
    const std::vector<std::pair<uint64_t, sl_lock>>& locks) {
  const int map = bpf_map__fd(s_->maps.locks);
  std::vector<uint64_t> now;
  for (const auto& [address, lock] : locks) {
    if (bpf_map_update_elem(map, &address, &lock, BPF_ANY) == 0) {
      now.push_back(address);
    }
  }
  std::sort(now.begin(), now.end());
  for (const uint64_t address : known_locks_) {
    if (!std::binary_search(now.begin(), now.end(), address)) {
      bpf_map_delete_elem(map, &address);
    }
  }
  known_locks_ = std::move(now);
}

void HoldSampler::SetRows(const std::vector<sl_row>& rows) {
  uint32_t used = 0;
  for (uint32_t cpu = 0; cpu < rows.size(); ++cpu) {
    bpf_map_update_elem(bpf_map__fd(s_->maps.rows), &cpu, &rows[cpu], BPF_ANY);
    if (rows[cpu].lock[0] != 0) ++used;
  }
  *const_cast<volatile __u32*>(&s_->bss->owner_rows) = used;
}

void HoldSampler::LearnZswap(
    const std::vector<std::pair<uint64_t, uint64_t>>& text) {
  auto* bss = s_->bss;
  constexpr size_t kSlots =
      sizeof(bss->zswap_text) / sizeof(bss->zswap_text[0]);
  for (size_t i = 0; i < std::min(text.size(), kSlots); ++i) {
    bss->zswap_text[i].begin = text[i].first;
    bss->zswap_text[i].end = text[i].second;
  }
}

std::vector<std::pair<uint64_t, int>> HoldSampler::TakeLearned(int budget) {
  auto* bss = s_->bss;
  constexpr size_t kSlots = sizeof(bss->learned) / sizeof(bss->learned[0]);
  std::vector<std::pair<uint64_t, int>> out;
  for (size_t i = 0; i < kSlots; ++i) {
    const uint64_t lock = *const_cast<volatile __u64*>(&bss->learned[i].lock);
    if (lock != 0)
      out.emplace_back(lock, static_cast<int>(bss->learned[i].cpu));
  }
  *const_cast<volatile __s32*>(&bss->learn_budget) = budget;
  return out;
}

std::vector<uint64_t> HoldSampler::ZswapPools() const {
  std::vector<uint64_t> out;
  for (const __u64& slot : s_->bss->zswap_pools) {
    const uint64_t pool = *const_cast<const volatile __u64*>(&slot);
    if (pool != 0 && std::find(out.begin(), out.end(), pool) == out.end()) {
      out.push_back(pool);
    }
  }
  return out;
}

void HoldSampler::WatchZswap(bool on) {
  auto* bss = s_->bss;
  if (on) {
    for (__u64& slot : bss->zswap_pools) {
      *const_cast<volatile __u64*>(&slot) = 0;
    }
  }
  *const_cast<volatile __u32*>(&bss->zswap_pools_wanted) = on;
}

absl::Status HoldSampler::Peek(uint64_t address, void* out,
                               size_t bytes) const {
  auto* bss = s_->bss;
  if (bytes > sizeof(bss->peek_out)) {
    return absl::InvalidArgumentError("peek: more than 4096 bytes");
  }
  bss->peek_address = address;
  bss->peek_bytes = static_cast<uint32_t>(bytes);
  LIBBPF_OPTS(bpf_test_run_opts, options);
  const int error =
      bpf_prog_test_run_opts(bpf_program__fd(s_->progs.peek), &options);
  if (error != 0) return BpfError("run the peek program", -error);
  if (bss->peek_error != 0) {
    return absl::NotFoundError(
        absl::StrCat("no kernel memory at 0x", absl::Hex(address)));
  }
  memcpy(out, bss->peek_out, bytes);
  return absl::OkStatus();
}

std::string HoldSampler::FunctionName(uint64_t address) const {
  const bpf_program* program = s_->progs.function_name;
  if (!bpf_program__autoload(program)) return "";
  auto* bss = s_->bss;
  bss->name_address = address;
  LIBBPF_OPTS(bpf_test_run_opts, options);
  if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) != 0) {
    return "";
  }
  return std::string(bss->name_out,
                     strnlen(bss->name_out, sizeof(bss->name_out)));
}

absl::StatusOr<uint64_t> HoldSampler::CpuOffset(int cpu) const {
  auto* bss = s_->bss;
  bss->offset_cpu = static_cast<uint32_t>(cpu);
  LIBBPF_OPTS(bpf_test_run_opts, options);
  const int error =
      bpf_prog_test_run_opts(bpf_program__fd(s_->progs.cpu_offset), &options);
  if (error != 0) return BpfError("run the per-CPU offset program", -error);
  if (bss->offset_out == 0) {
    return absl::UnavailableError(
        absl::StrCat("no per-CPU offset for CPU ", cpu));
  }
  return bss->offset_out;
}

absl::StatusOr<std::vector<std::pair<std::string, uint64_t>>>
HoldSampler::WatchDisks(const std::function<void()>& touch) {
  auto* bss = s_->bss;
  bpf_program* program = s_->progs.disk_seen;
  if (!bpf_program__autoload(program)) {
    return absl::UnavailableError("tp_btf/block_bio_queue is not loaded");
  }
  memset(bss->disks, 0, sizeof(bss->disks));
  bss->disks_seen = 0;
  bpf_link* link = bpf_program__attach(program);
  if (link == nullptr) {
    return BpfError("attach tp_btf/block_bio_queue", errno);
  }
  touch();
  bpf_link__destroy(link);
  std::map<std::string, uint64_t> found;
  const size_t seen = std::min<size_t>(
      bss->disks_seen, sizeof(bss->disks) / sizeof(bss->disks[0]));
  for (size_t i = 0; i < seen; ++i) {
    const auto& disk = bss->disks[i];
    if (disk.private_data == 0) continue;
    found[std::string(disk.name, strnlen(disk.name, sizeof(disk.name)))] =
        disk.private_data;
  }
  return std::vector<std::pair<std::string, uint64_t>>(found.begin(),
                                                       found.end());
}

}  // namespace swaplock
