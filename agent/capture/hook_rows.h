// The catalogue's table: programs of hold_sampler.bpf.c and the kernel
// functions they may go on, lock by lock and generation by generation.
#ifndef SWAPLOCK_AGENT_CAPTURE_HOOK_ROWS_H_
#define SWAPLOCK_AGENT_CAPTURE_HOOK_ROWS_H_

#include <vector>

#include "agent/capture/plan.h"

namespace swaplock {

// A program and the functions it may go on, best first. Every function program
// NAME has a twin NAME_k by kprobe.
struct HookRow {
  const char* program;
  ProbeKind kind;
  std::vector<const char*> candidates;
  enum Need {
    kRequired,
    kOptional,
  } need;
  enum Prefer {
    kTrampoline,  // kprobe where it is refused
    // For functions that are entered without the lock, or with one that
    // several tasks share. A task that is preempted inside an fentry program
    // makes all others on its CPU lose that program's events until it runs
    // again; kprobes run with preemption off. Under a lock of one's own that
    // cannot happen: there is one holder per CPU.
    kKprobe,
    kTrampolineOnly,
  } prefer = kTrampoline;
  // Of the twin; the default goes with `kind`.
  ProbeKind twin = ProbeKind::kTracepoint;
  // Whether the rows before it tell as much, so that it need not be there.
  bool (*told)(const std::vector<Attachment>& taken) = nullptr;

  ProbeKind TwinKind() const {
    if (twin != ProbeKind::kTracepoint) return twin;
    return kind == ProbeKind::kFentry ? ProbeKind::kKprobe
                                      : ProbeKind::kKretprobe;
  }
};

// zram's stream in every generation; then what only those with one stream have,
// or those with streams of their own for reads.
const std::vector<HookRow>& ZramRows();
const std::vector<HookRow>& ZramOneStreamRows();
const std::vector<HookRow>& ZramReadRows();
// Latency of zram's reads and writes.
const std::vector<HookRow>& ZramLatencyRows();
// zswap's stores; its loads with zswap_decompress() (6.8 on) and before.
const std::vector<HookRow>& ZswapStoreRows();
const std::vector<HookRow>& ZswapLoadRows();
const std::vector<HookRow>& OldZswapLoadRows();

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_HOOK_ROWS_H_
