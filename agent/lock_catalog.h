// The lock catalogue: which functions of which kernel generation take and
// release the locks of the swap-compression path, what kind of lock they are,
// and which BPF programs measure them. MakePlan turns it, what the running
// kernel calls things (kernel_symbols), and what the kernel lets be attached
// into a plan for this host. Pure: the same input gives the same plan, and
// symbol lists recorded on other kernels are its tests.
//
// To support a new generation, add a candidate function to a row here, the
// name to kernel_symbols.cc, and a recorded list to testdata/.
#ifndef SWAPLOCK_AGENT_LOCK_CATALOG_H_
#define SWAPLOCK_AGENT_LOCK_CATALOG_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/bpf/hold_record.h"
#include "agent/kernel_symbols.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

enum class ProbeKind { kFentry, kFexit, kKprobe, kKretprobe, kTracepoint };

// "fentry", "fexit", "kprobe", "kretprobe", "tp_btf".
absl::string_view Name(ProbeKind kind);

// One program on one function or tracepoint.
struct Attachment {
  std::string program;  // in hold_sampler.bpf.c
  ProbeKind kind;
  std::string target;

  std::string Probe() const;  // "fexit/zcomp_stream_get"
};

// Asks the kernel whether a program of this kind may be attached to `target`.
// Its message is shown to people: why not.
using TryAttach =
    std::function<absl::Status(ProbeKind kind, const std::string& target)>;

struct Plan {
  std::vector<Attachment> attachments;
  std::vector<Probe> probes;  // every probe considered, with its verdict
  // One sentence per thing this host cannot measure, and why.
  std::vector<std::string> not_measured;

  // Of the one stream, or of the one that writes compress with.
  LockModel zram_model = LockModel::kUnspecified;
  // Split streams: of the one that reads decompress with, held alone and
  // shared. kUnspecified: there is none, or it is never held that way.
  LockModel zram_exclusive_model = LockModel::kUnspecified;
  LockModel zram_shared_model = LockModel::kUnspecified;
  LockModel zswap_model = LockModel::kUnspecified;
  // Loads may take no lock, depending on the compressor (separate requests).
  bool zswap_lock_free_loads = false;
  Tier zram_hold = Tier::kUnspecified;
  Tier zswap_hold = Tier::kUnspecified;
  // Of the zram stream and of the zswap lock. kUnspecified: waits not measured.
  Tier wait = Tier::kUnspecified;
  LockModel size_class_model = LockModel::kUnspecified;
  LockModel pool_model = LockModel::kUnspecified;
  // Of whole operations.
  Tier zram_latency = Tier::kUnspecified;
  Tier zswap_latency = Tier::kUnspecified;

  bool SplitStreams() const {
    return zram_exclusive_model != LockModel::kUnspecified;
  }
  bool Attaches(absl::string_view program) const;
};

// Whether a program serves zswap alone. Such are attached while zswap is in use
// only: some sit on functions that zram calls for every page.
bool ServesZswap(const Attachment& attachment);

// What is left of a plan while zswap is not in use.
Plan WithoutZswap(const Plan& plan);

// What a kernel's zcomp_dstrm has to tell a holder that is alone from several.
struct SharedBy {
  sl_shared_by how = SL_SHARED_NEVER;
  uint32_t offset_bytes = 0;
};
SharedBy ReadingStreamSharedBy(const KernelSymbols& symbols);

// The plan for a kernel. `try_attach` is asked at most once per probe, and no
// more about function hooks once the kernel has refused one for lack of
// permission: a lockdown refuses all of them.
Plan MakePlan(const KernelSymbols& symbols, const TryAttach& try_attach);

// As text, for golden files and `--print_plan`.
std::string FormatPlan(const Plan& plan);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_LOCK_CATALOG_H_
