#include "agent/hold_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/bpf/hold_sampler.skel.h"
#include "agent/probe_trial.h"

namespace swaplock {
namespace {

// Programs that run by themselves or by request, never on a lock path.
constexpr const char* kFinders[] = {"peek", "cpu_offset", "holds_now",
                                    "calibrate"};

// The last words of the verifier, for the log of a refused program.
thread_local std::string* libbpf_log = nullptr;

int CollectLog(libbpf_print_level level, const char* format, va_list args) {
  if (level == LIBBPF_DEBUG || libbpf_log == nullptr) return 0;
  char line[1024];
  const int n = vsnprintf(line, sizeof(line), format, args);
  if (n > 0 && libbpf_log->size() < size_t{64} * 1024) libbpf_log->append(line);
  return n;
}

absl::Status FromErrno(absl::string_view what, int error) {
  const std::string text = absl::StrCat(
      what, ": ",
      strerrorname_np(error) == nullptr ? "error" : strerrorname_np(error));
  if (error == EPERM) {  // EACCES is what the verifier says
    const std::string why = WhyNotPermitted();
    return absl::PermissionDeniedError(
        why.empty() ? text : absl::StrCat(text, " (", why, ")"));
  }
  return absl::UnavailableError(text);
}

// What the verifier found, out of libbpf's log: its last line before its
// statistics.
std::string VerifierSays(absl::string_view log) {
  absl::string_view found;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StartsWith(line, "processed ")) break;
    if (!line.empty() && !absl::StartsWith(line, "libbpf: ")) found = line;
  }
  return found.empty() ? "" : absl::StrCat(", the verifier says: ", found);
}

uint64_t MonotonicNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(t.tv_nsec);
}

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

// Tells the programs where this kernel's zram has what they read.
void SetLayout(const KernelSymbols& symbols, hold_sampler* s) {
  for (const char* name : {"zcomp_strm.lock", "zcomp_cstrm.lock"}) {
    if (const KernelMember* lock = symbols.Member(name)) {
      s->rodata->zram_lock_offset = lock->offset_bytes;
    }
  }
  if (const KernelMember* lock = symbols.Member("zcomp_dstrm.lock")) {
    s->rodata->zram_dstrm_lock_offset = lock->offset_bytes;
  }
  const SharedBy shared_by = ReadingStreamSharedBy(symbols);
  s->rodata->zram_shared_by = shared_by.how;
  s->rodata->zram_shared_offset = shared_by.offset_bytes;
  const auto parameters = [&symbols](const char* name) -> uint32_t {
    const auto at = symbols.functions.find(name);
    return at == symbols.functions.end()
               ? 0
               : static_cast<uint32_t>(at->second.parameters);
  };
  s->rodata->zram_dget_parameters = parameters("zcomp_dstrm_get");
  // zcomp_compress(strm, src, dst_len) got the compressor in front in 6.12.
  s->rodata->zram_stream_argument = parameters("zcomp_compress") == 3 ? 0 : 1;
}

}  // namespace

struct HoldSampler::Skeleton {
  hold_sampler* s = nullptr;
  ring_buffer* ring = nullptr;
  const std::function<void(const sl_top_hold&)>* on_hold = nullptr;
  const std::function<void(const sl_top_wait&)>* on_wait = nullptr;
  std::map<std::string, bpf_link*> links;
  ~Skeleton() {
    for (auto& [name, link] : links) bpf_link__destroy(link);
    ring_buffer__free(ring);
    hold_sampler__destroy(s);
  }
};

HoldSampler::HoldSampler() = default;

HoldSampler::~HoldSampler() {
  if (cells_ != nullptr) munmap(const_cast<sl_cell*>(cells_), cells_bytes_);
  if (latencies_ != nullptr) {
    munmap(const_cast<sl_latency*>(latencies_), latencies_bytes_);
  }
  if (cpu_ != nullptr) munmap(const_cast<sl_cpu*>(cpu_), cpu_bytes_);
}

absl::Status HoldSampler::Open(const KernelSymbols& symbols, const Plan& plan,
                               int cells_per_cpu,
                               const std::vector<std::string>& leave_out) {
  skeleton_ = std::make_unique<Skeleton>();
  skeleton_->s = hold_sampler__open();
  if (skeleton_->s == nullptr) return FromErrno("open the BPF object", errno);
  hold_sampler* s = skeleton_->s;
  const auto left_out = [&](absl::string_view name) {
    return std::find(leave_out.begin(), leave_out.end(), name) !=
           leave_out.end();
  };
  bpf_program* program;
  bpf_object__for_each_program(program, s->obj) {
    const char* name = bpf_program__name(program);
    bool wanted = !left_out(name);
    if (wanted && std::find(std::begin(kFinders), std::end(kFinders),
                            absl::string_view(name)) == std::end(kFinders)) {
      const auto a = std::find_if(
          plan.attachments.begin(), plan.attachments.end(),
          [name](const Attachment& a) { return a.program == name; });
      wanted = a != plan.attachments.end();
      if (wanted &&
          (a->kind == ProbeKind::kFentry || a->kind == ProbeKind::kFexit)) {
        const int error =
            bpf_program__set_attach_target(program, 0, a->target.c_str());
        if (error != 0) {
          refused_.emplace_back(name, absl::StrCat("find ", a->Probe(), ": ",
                                                   strerrorname_np(-error)));
          wanted = false;
        }
      }
    }
    bpf_program__set_autoload(program, wanted);
  }
  cpus_ = libbpf_num_possible_cpus();
  cells_per_cpu_ = cells_per_cpu;
  const uint32_t cpus = static_cast<uint32_t>(cpus_);
  s->rodata->cells_per_cpu = static_cast<uint32_t>(cells_per_cpu);
  SetLayout(symbols, s);
  s->rodata->blocked_known =
      plan.Attaches("switch_hook") && !left_out("switch_hook");
  bpf_map__set_max_entries(s->maps.cells,
                           cpus * static_cast<uint32_t>(cells_per_cpu));
  bpf_map__set_max_entries(s->maps.latencies, cpus * SL_LATENCIES);
  bpf_map__set_max_entries(s->maps.cpus, cpus);
  bpf_map__set_max_entries(s->maps.rows, cpus);
  // A window's longest holds and waits, should all CPUs find theirs at once.
  uint32_t ring = 256 * 1024;
  while (ring < cpus * 64 * 1024 && ring < 4 * 1024 * 1024) ring *= 2;
  bpf_map__set_max_entries(s->maps.top_ring, ring);
  const int error = hold_sampler__load(s);
  if (error != 0) return FromErrno("load the BPF programs", -error);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HoldSampler>> HoldSampler::Load(
    const KernelSymbols& symbols, const Plan& plan, int cells_per_cpu) {
  std::string log;
  libbpf_log = &log;
  libbpf_set_print(CollectLog);
  if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, nullptr) == 0) {
    libbpf_log = nullptr;
    return absl::UnavailableError(
        "this kernel has no BPF task storage, which Linux has since 5.11");
  }
  std::unique_ptr<HoldSampler> sampler(new HoldSampler);
  absl::Status status = sampler->Open(symbols, plan, cells_per_cpu, {});
  if (!status.ok() && !absl::IsPermissionDenied(status)) {
    // Some program does not pass this kernel's verifier. Find out which by
    // loading each alone, and go on without it.
    std::vector<std::string> names;
    for (const Attachment& a : plan.attachments) names.push_back(a.program);
    names.insert(names.end(), std::begin(kFinders), std::end(kFinders));
    std::vector<std::string> bad;
    std::vector<std::pair<std::string, std::string>> refused;
    for (const std::string& name : names) {
      std::vector<std::string> others = names;
      others.erase(std::find(others.begin(), others.end(), name));
      log.clear();
      HoldSampler alone;
      const absl::Status one = alone.Open(symbols, plan, cells_per_cpu, others);
      if (one.ok()) continue;
      bad.push_back(name);
      refused.emplace_back(name,
                           absl::StrCat(one.message(), VerifierSays(log)));
    }
    sampler.reset(new HoldSampler);
    status = sampler->Open(symbols, plan, cells_per_cpu, bad);
    sampler->refused_ = refused;
  }
  libbpf_log = nullptr;
  if (!status.ok()) return status;
  status = sampler->MapMemory();
  if (!status.ok()) return status;
  sampler->plan_ = plan;
  return sampler;
}

absl::Status HoldSampler::MapMemory() {
  hold_sampler* s = skeleton_->s;
  cells_bytes_ =
      PageUp(sizeof(sl_cell) * static_cast<size_t>(cpus_ * cells_per_cpu_));
  cpu_bytes_ = PageUp(sizeof(sl_cpu) * static_cast<size_t>(cpus_));
  void* cells = mmap(nullptr, cells_bytes_, PROT_READ, MAP_SHARED,
                     bpf_map__fd(s->maps.cells), 0);
  if (cells == MAP_FAILED) return FromErrno("map the cells", errno);
  cells_ = static_cast<const sl_cell*>(cells);
  latencies_bytes_ =
      PageUp(sizeof(sl_latency) * static_cast<size_t>(cpus_) * SL_LATENCIES);
  void* latencies = mmap(nullptr, latencies_bytes_, PROT_READ, MAP_SHARED,
                         bpf_map__fd(s->maps.latencies), 0);
  if (latencies == MAP_FAILED) return FromErrno("map the latencies", errno);
  latencies_ = static_cast<const sl_latency*>(latencies);
  void* cpus = mmap(nullptr, cpu_bytes_, PROT_READ, MAP_SHARED,
                    bpf_map__fd(s->maps.cpus), 0);
  if (cpus == MAP_FAILED) return FromErrno("map the per-CPU state", errno);
  cpu_ = static_cast<const sl_cpu*>(cpus);
  skeleton_->ring = ring_buffer__new(
      bpf_map__fd(s->maps.top_ring),
      [](void* context, void* record, size_t bytes) {
        const auto* s = static_cast<const Skeleton*>(context);
        uint32_t kind = 0;
        if (bytes >= sizeof(kind)) memcpy(&kind, record, sizeof(kind));
        if (kind == SL_RECORD_HOLD && bytes >= sizeof(sl_top_hold)) {
          (*s->on_hold)(*static_cast<const sl_top_hold*>(record));
        } else if (kind == SL_RECORD_WAIT && bytes >= sizeof(sl_top_wait)) {
          (*s->on_wait)(*static_cast<const sl_top_wait*>(record));
        }
        return 0;
      },
      skeleton_.get(), nullptr);
  if (skeleton_->ring == nullptr) return FromErrno("open the ring", errno);
  bpf_map* map;
  bpf_object__for_each_map(map, s->obj) {
    map_bytes_ += static_cast<uint64_t>(bpf_map__value_size(map)) *
                  bpf_map__max_entries(map);
  }
  map_bytes_ += bpf_map__max_entries(s->maps.top_ring);
  return absl::OkStatus();
}

void HoldSampler::AttachOne(const Attachment& a) {
  bpf_program* program =
      bpf_object__find_program_by_name(skeleton_->s->obj, a.program.c_str());
  if (program == nullptr || !bpf_program__autoload(program)) return;
  const bool kretprobe = a.kind == ProbeKind::kKretprobe;
  bpf_link* link =
      kretprobe || a.kind == ProbeKind::kKprobe
          ? bpf_program__attach_kprobe(program, kretprobe, a.target.c_str())
          : bpf_program__attach(program);
  if (link == nullptr) {
    refused_.emplace_back(a.program, absl::StrCat("attach ", a.Probe(), ": ",
                                                  strerrorname_np(errno)));
    return;
  }
  skeleton_->links[a.program] = link;
}

void HoldSampler::Attach() {
  for (const Attachment& a : plan_.attachments) {
    if (a.program == "disk_seen") continue;  // by WatchDisks, for a moment
    if (!ServesZswap(a)) AttachOne(a);
  }
  auto* bss = skeleton_->s->bss;
  const auto attached = [this](const char* program) {
    return skeleton_->links.count(program) > 0;
  };
  // See the rows of lock_catalog.cc that are told by others.
  sl_op get_op = SL_OP_ANY;
  if (plan_.SplitStreams()) {
    get_op = SL_OP_STORE;
  } else if (attached("zram_compress") || attached("zram_compress_k")) {
    get_op = SL_OP_LOAD;
  }
  *const_cast<volatile __u32*>(&bss->zram_get_op) = get_op;
  *const_cast<volatile __u64*>(&bss->armed_ns[SL_CLASS_ZRAM]) = MonotonicNs();
}

void HoldSampler::SetZswapOn(bool on) {
  auto* armed_ns =
      const_cast<volatile __u64*>(&skeleton_->s->bss->armed_ns[SL_CLASS_ZSWAP]);
  if (on) {
    for (const Attachment& a : plan_.attachments) {
      if (ServesZswap(a)) AttachOne(a);
    }
    *armed_ns = MonotonicNs();
    return;
  }
  *armed_ns = 0;
  for (const Attachment& a : plan_.attachments) {
    if (!ServesZswap(a)) continue;
    const auto link = skeleton_->links.find(a.program);
    if (link == skeleton_->links.end()) continue;
    bpf_link__destroy(link->second);
    skeleton_->links.erase(link);
  }
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
  skeleton_->on_hold = &hold;
  skeleton_->on_wait = &wait;
  ring_buffer__consume(skeleton_->ring);
}

std::vector<sl_hold_facts> HoldSampler::ReadHoldsInProgress() {
  std::vector<sl_hold_facts> out;
  bpf_program* program = skeleton_->s->progs.holds_now;
  if (!bpf_program__autoload(program)) return out;
  bpf_link*& link = skeleton_->links["holds_now"];
  if (link == nullptr) link = bpf_program__attach_iter(program, nullptr);
  if (link == nullptr) {
    skeleton_->links.erase("holds_now");
    return out;
  }
  const int fd = bpf_iter_create(bpf_link__fd(link));
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
  *const_cast<volatile __u32*>(&skeleton_->s->data->window) = window;
}

void HoldSampler::SetComps(const std::vector<sl_comp>& comps) {
  for (size_t i = 0; i < SL_COMPS; ++i) {
    sl_comp& slot = skeleton_->s->bss->comps[i];
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
    sl_zram_device& slot = skeleton_->s->bss->zram_devices[i];
    const sl_zram_device wanted =
        i < zram_devices.size() ? zram_devices[i] : sl_zram_device{};
    *const_cast<volatile __u64*>(&slot.zram) = 0;  // as in SetComps
    *const_cast<volatile __u32*>(&slot.base) = wanted.base;
    *const_cast<volatile __u64*>(&slot.zram) = wanted.zram;
  }
}

void HoldSampler::SetCpu0Offset(uint64_t offset) {
  *const_cast<volatile __u64*>(&skeleton_->s->bss->cpu0_offset) = offset;
}

void HoldSampler::SetTimingShift(uint32_t shift) {
  *const_cast<volatile __u32*>(&skeleton_->s->bss->timing_shift) =
      std::min<uint32_t>(shift, 16);
}

absl::StatusOr<HoldSampler::Calibration> HoldSampler::Calibrate() {
  constexpr size_t kRuns = 255;
  auto* bss = skeleton_->s->bss;
  const bpf_program* program = skeleton_->s->progs.calibrate;
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
      return FromErrno("run the calibration program", -error);
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
  const int map = bpf_map__fd(skeleton_->s->maps.locks);
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
    bpf_map_update_elem(bpf_map__fd(skeleton_->s->maps.rows), &cpu, &rows[cpu],
                        BPF_ANY);
    if (rows[cpu].lock[0] != 0) ++used;
  }
  *const_cast<volatile __u32*>(&skeleton_->s->bss->owner_rows) = used;
}

void HoldSampler::LearnZswap(
    const std::vector<std::pair<uint64_t, uint64_t>>& text) {
  auto* bss = skeleton_->s->bss;
  constexpr size_t kSlots =
      sizeof(bss->zswap_text) / sizeof(bss->zswap_text[0]);
  for (size_t i = 0; i < std::min(text.size(), kSlots); ++i) {
    bss->zswap_text[i].begin = text[i].first;
    bss->zswap_text[i].end = text[i].second;
  }
}

std::vector<std::pair<uint64_t, int>> HoldSampler::TakeLearned(int budget) {
  auto* bss = skeleton_->s->bss;
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
  for (const __u64& slot : skeleton_->s->bss->zswap_pools) {
    const uint64_t pool = *const_cast<const volatile __u64*>(&slot);
    if (pool != 0 && std::find(out.begin(), out.end(), pool) == out.end()) {
      out.push_back(pool);
    }
  }
  return out;
}

void HoldSampler::WatchZswap(bool on) {
  auto* bss = skeleton_->s->bss;
  if (on) {
    for (__u64& slot : bss->zswap_pools) {
      *const_cast<volatile __u64*>(&slot) = 0;
    }
  }
  *const_cast<volatile __u32*>(&bss->zswap_pools_wanted) = on;
}

absl::Status HoldSampler::Peek(uint64_t address, void* out,
                               size_t bytes) const {
  auto* bss = skeleton_->s->bss;
  if (bytes > sizeof(bss->peek_out)) {
    return absl::InvalidArgumentError("peek: more than 4096 bytes");
  }
  bss->peek_address = address;
  bss->peek_bytes = static_cast<uint32_t>(bytes);
  LIBBPF_OPTS(bpf_test_run_opts, options);
  const int error = bpf_prog_test_run_opts(
      bpf_program__fd(skeleton_->s->progs.peek), &options);
  if (error != 0) return FromErrno("run the peek program", -error);
  if (bss->peek_error != 0) {
    return absl::NotFoundError(
        absl::StrCat("no kernel memory at 0x", absl::Hex(address)));
  }
  memcpy(out, bss->peek_out, bytes);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> HoldSampler::CpuOffset(int cpu) const {
  auto* bss = skeleton_->s->bss;
  bss->offset_cpu = static_cast<uint32_t>(cpu);
  LIBBPF_OPTS(bpf_test_run_opts, options);
  const int error = bpf_prog_test_run_opts(
      bpf_program__fd(skeleton_->s->progs.cpu_offset), &options);
  if (error != 0) return FromErrno("run the per-CPU offset program", -error);
  if (bss->offset_out == 0) {
    return absl::UnavailableError(
        absl::StrCat("no per-CPU offset for CPU ", cpu));
  }
  return bss->offset_out;
}

absl::StatusOr<std::vector<std::pair<std::string, uint64_t>>>
HoldSampler::WatchDisks(const std::function<void()>& touch) {
  auto* bss = skeleton_->s->bss;
  bpf_program* program = skeleton_->s->progs.disk_seen;
  if (!bpf_program__autoload(program)) {
    return absl::UnavailableError("tp_btf/block_bio_queue is not loaded");
  }
  memset(bss->disks, 0, sizeof(bss->disks));
  bss->disks_seen = 0;
  bpf_link* link = bpf_program__attach(program);
  if (link == nullptr) {
    return FromErrno("attach tp_btf/block_bio_queue", errno);
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

std::vector<HoldSampler::ProgramStats> HoldSampler::ReadProgramStats() const {
  std::vector<ProgramStats> out;
  for (const auto& [name, link] : skeleton_->links) {
    const bpf_program* program =
        bpf_object__find_program_by_name(skeleton_->s->obj, name.c_str());
    bpf_prog_info info = {};
    uint32_t length = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) != 0) {
      continue;
    }
    out.push_back(
        {name, info.run_cnt, info.run_time_ns, info.recursion_misses});
  }
  return out;
}

}  // namespace swaplock
