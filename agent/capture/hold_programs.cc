#include "agent/capture/hold_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
// The record comes first: the skeleton needs its types.
#include "agent/bpf/hold_record.h"
#include "agent/bpf/hold_sampler.skel.h"
#include "agent/capture/lock_catalog.h"
#include "agent/capture/probe_trial.h"

namespace swaplock {
namespace {

// Programs that run by themselves or by request, never on a lock path.
constexpr const char* kFinders[] = {"peek", "cpu_offset", "holds_now",
                                    "function_name", "calibrate"};

// The last words of the verifier, for the log of a refused program.
thread_local std::string* libbpf_log = nullptr;

int CollectLog(libbpf_print_level level, const char* format, va_list args) {
  if (level == LIBBPF_DEBUG || libbpf_log == nullptr) return 0;
  char line[1024];
  const int n = vsnprintf(line, sizeof(line), format, args);
  if (n > 0 && libbpf_log->size() < size_t{64} * 1024) libbpf_log->append(line);
  return n;
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

absl::Status BpfError(absl::string_view what, int error) {
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

HoldPrograms::HoldPrograms() = default;

HoldPrograms::~HoldPrograms() {
  for (auto& [name, link] : links_) bpf_link__destroy(link);
  if (skeleton_ != nullptr) hold_sampler__destroy(skeleton_);
}

absl::Status HoldPrograms::Open(const KernelSymbols& symbols, const Plan& plan,
                                int cells_per_cpu,
                                const std::vector<std::string>& leave_out) {
  skeleton_ = hold_sampler__open();
  if (skeleton_ == nullptr) return BpfError("open the BPF object", errno);
  hold_sampler* s = skeleton_;
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
  if (error != 0) return BpfError("load the BPF programs", -error);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HoldPrograms>> HoldPrograms::Load(
    const KernelSymbols& symbols, const Plan& plan, int cells_per_cpu) {
  std::string log;
  libbpf_log = &log;
  libbpf_set_print(CollectLog);
  if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, nullptr) == 0) {
    libbpf_log = nullptr;
    return absl::UnavailableError(
        "this kernel has no BPF task storage, which Linux has since 5.11");
  }
  std::unique_ptr<HoldPrograms> programs(new HoldPrograms);
  absl::Status status = programs->Open(symbols, plan, cells_per_cpu, {});
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
      HoldPrograms alone;
      const absl::Status one = alone.Open(symbols, plan, cells_per_cpu, others);
      if (one.ok()) continue;
      bad.push_back(name);
      refused.emplace_back(name,
                           absl::StrCat(one.message(), VerifierSays(log)));
    }
    programs.reset(new HoldPrograms);
    status = programs->Open(symbols, plan, cells_per_cpu, bad);
    programs->refused_ = refused;
  }
  libbpf_log = nullptr;
  if (!status.ok()) return status;
  programs->plan_ = plan;
  return programs;
}

void HoldPrograms::AttachOne(const Attachment& a) {
  bpf_program* program =
      bpf_object__find_program_by_name(skeleton_->obj, a.program.c_str());
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
  links_[a.program] = link;
}

void HoldPrograms::Attach() {
  for (const Attachment& a : plan_.attachments) {
    if (a.program == "disk_seen") continue;  // by WatchDisks, for a moment
    if (!ServesZswap(a)) AttachOne(a);
  }
  auto* bss = skeleton_->bss;
  const auto attached = [this](const char* program) {
    return links_.count(program) > 0;
  };
  // See the rows of hook_rows.cc that others tell.
  sl_op get_op = SL_OP_ANY;
  if (plan_.SplitStreams()) {
    get_op = SL_OP_STORE;
  } else if (attached("zram_compress") || attached("zram_compress_k")) {
    get_op = SL_OP_LOAD;
  }
  *const_cast<volatile __u32*>(&bss->zram_get_op) = get_op;
  *const_cast<volatile __u64*>(&bss->armed_ns[SL_CLASS_ZRAM]) = MonotonicNs();
}

void HoldPrograms::SetZswapOn(bool on) {
  auto* armed_ns =
      const_cast<volatile __u64*>(&skeleton_->bss->armed_ns[SL_CLASS_ZSWAP]);
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
    const auto link = links_.find(a.program);
    if (link == links_.end()) continue;
    bpf_link__destroy(link->second);
    links_.erase(link);
  }
}

std::vector<HoldPrograms::Stats> HoldPrograms::ReadStats() const {
  std::vector<Stats> out;
  for (const auto& [name, link] : links_) {
    const bpf_program* program =
        bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
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
