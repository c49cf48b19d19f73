// A plan: which BPF programs measure the locks of the swap-compression path on
// one host, on which functions and tracepoints, what kind of lock each is, and
// what cannot be measured there. The lock catalogue makes it.
//
// Values; thread-safe as such.
#ifndef SWAPLOCK_AGENT_CAPTURE_PLAN_H_
#define SWAPLOCK_AGENT_CAPTURE_PLAN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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

// Whether a program is among them.
bool Attaches(const std::vector<Attachment>& attachments,
              absl::string_view program);

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

// As text, for golden files and `--print_plan`.
std::string FormatPlan(const Plan& plan);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_PLAN_H_
