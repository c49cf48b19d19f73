#include "agent/capture/locks_document.h"

#include <algorithm>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/capture/lock_catalog.h"

namespace swaplock {
namespace {

constexpr char kHead[] =
    R"(# Locks, kernel by kernel

Generated from the lock catalogue and the symbol lists of real kernels in
`agent/capture/testdata`; a test holds it to them. Write it anew with

    bazel run //agent/capture:locks_document -- $PWD/agent/capture/testdata > docs/LOCKS.md

## What the words mean

| model | the lock |
|---|---|
| preempt_off | preemption is off while it is held, so no holder is ever runnable and off its CPU |
| local_lock | PREEMPT_RT: a per-CPU lock that sleeps |
| mutex | one `struct mutex` a CPU, for both directions |
| split_mutex | one for each direction |
| rwsem_exclusive, rwsem_shared | a read-write semaphore a CPU, held alone or by several |
| none | no lock at all: counted as operations; not the same as not measured |
| spinlock, rwlock | zsmalloc's; only waits are seen |

| tier | how holds are seen |
|---|---|
| exact | by the functions that take and give back the lock |
| bracket | by the first and the last function called inside it: the hold is shorter than it was by about the hooks' own run time |
| owner_probe | tracepoints alone: a holder's intervals off the CPU; neither begin nor end of a hold |
| - | not at all; waits still are, by the contention tracepoints (5.19 on) |

## Losses that belong to a mechanism

- **Trampolines** (fentry, fexit): a task preempted inside a program keeps it from all others on its CPU until it runs
  again. Under a lock of one's own this cannot happen; functions entered without the lock, and the shared streams' put, are
  hooked by kprobes where the kernel takes them. Every skipped run is counted, by probe.
- **Kprobes** run with preemption off and lose nothing. A kretprobe does: the kernel keeps only so many return
  addresses. So a stream's get is known by the work after it, and without trampolines operations have no latency.
- **Tracepoints** cannot tell two holds in a row of one task apart, nor operations from each other.

)";

struct Mechanism {
  const char* name;
  std::vector<ProbeKind> refused;
};

const std::vector<Mechanism>& Mechanisms() {
  static const auto* const mechanisms = new std::vector<Mechanism>{
      {"all", {}},
      {"no trampolines", {ProbeKind::kFentry, ProbeKind::kFexit}},
      {"tracepoints only",
       {ProbeKind::kFentry, ProbeKind::kFexit, ProbeKind::kKprobe,
        ProbeKind::kKretprobe}},
  };
  return *mechanisms;
}

Plan PlanWithout(const KernelSymbols& symbols,
                 const std::vector<ProbeKind>& refused) {
  return MakePlan(symbols, [&](ProbeKind kind, const std::string&) {
    return std::find(refused.begin(), refused.end(), kind) == refused.end()
               ? absl::OkStatus()
               : absl::PermissionDeniedError("refused");
  });
}

std::string Model(LockModel model) {
  return model == LockModel::kUnspecified ? "-" : std::string(Name(model));
}

std::string TierName(Tier tier) {
  return tier == Tier::kUnspecified ? "-" : std::string(Name(tier));
}

std::string ReadModel(const Plan& plan) {
  if (!plan.SplitStreams()) return Model(plan.zram_model);
  return plan.zram_shared_model == LockModel::kUnspecified
             ? Model(plan.zram_exclusive_model)
             : absl::StrCat(Model(plan.zram_exclusive_model), ", ",
                            Model(plan.zram_shared_model));
}

std::string LoadModel(const Plan& plan) {
  return absl::StrCat(Model(plan.zswap_model),
                      plan.zswap_lock_free_loads
                          ? ", none where the codec is synchronous"
                          : "");
}

void AppendHooks(const Plan& plan, std::string* out) {
  std::map<std::string, std::vector<std::string>> by_lock;
  for (const Attachment& a : plan.attachments) {
    const char* lock = absl::StartsWith(a.program, "zram_")    ? "zram"
                       : absl::StartsWith(a.program, "zswap_") ? "zswap"
                                                               : "any";
    by_lock[lock].push_back(absl::StrCat("`", a.Probe(), "`"));
  }
  for (const auto& [lock, hooks] : by_lock) {
    absl::StrAppend(out, "- ", lock, ": ", absl::StrJoin(hooks, ", "), "\n");
  }
}

}  // namespace

const std::vector<std::pair<const char*, const char*>>& RecordedKernels() {
  static const auto* const kernels =
      new std::vector<std::pair<const char*, const char*>>{
          {"6.1", "6.1"},
          {"6.12", "6.12"},
          {"6.18", "6.18"},
          {"7.3", "7.3"},
          {"7.3 with zram's streams split", "7.3-zram-split"},
          {"7.3 with zram's streams and zswap's requests split", "7.3-patched"},
      };
  return *kernels;
}

std::string LocksDocument(
    const std::vector<std::pair<std::string, KernelSymbols>>& kernels) {
  std::string out = kHead;
  absl::StrAppend(&out,
                  "## Models\n\n| kernel | zram write | zram read | zswap "
                  "store | zswap load, writeback | zsmalloc class | zsmalloc "
                  "pool |\n|---|---|---|---|---|---|---|\n");
  for (const auto& [name, symbols] : kernels) {
    const Plan plan = PlanWithout(symbols, {});
    absl::StrAppend(&out, "| ", name, " | ", Model(plan.zram_model), " | ",
                    ReadModel(plan), " | ", Model(plan.zswap_model), " | ",
                    LoadModel(plan), " | ", Model(plan.size_class_model), " | ",
                    Model(plan.pool_model), " |\n");
  }
  absl::StrAppend(
      &out,
      "\n## Tiers\n\nOf holds, and of whole operations' latency.\n\n"
      "| kernel | the kernel takes | zram | operations | zswap | "
      "operations |\n|---|---|---|---|---|---|\n");
  for (const auto& [name, symbols] : kernels) {
    for (const Mechanism& mechanism : Mechanisms()) {
      const Plan plan = PlanWithout(symbols, mechanism.refused);
      absl::StrAppend(&out, "| ", name, " | ", mechanism.name, " | ",
                      TierName(plan.zram_hold), " | ",
                      TierName(plan.zram_latency), " | ",
                      TierName(plan.zswap_hold), " | ",
                      TierName(plan.zswap_latency), " |\n");
    }
  }
  absl::StrAppend(
      &out,
      "\n## Hooks\n\nThose of zswap are attached while it is on or holds "
      "pages: zram calls some of their functions too.\n");
  for (const auto& [name, symbols] : kernels) {
    for (size_t i = 0; i < 2; ++i) {
      const Mechanism& mechanism = Mechanisms()[i];
      absl::StrAppend(&out, "\n### ", name, ", ", mechanism.name, "\n\n");
      AppendHooks(PlanWithout(symbols, mechanism.refused), &out);
    }
  }
  return out;
}

}  // namespace swaplock
