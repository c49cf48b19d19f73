/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The owner probe: finds every off-CPU interval of a lock's owner with
 * tracepoints alone. At each context switch it compares the owner word of this
 * CPU's few locks with the task that leaves.
 *
 * It cannot see where a hold begins or ends: two consecutive holds of one task
 * look like one. So it counts intervals, not holds.
 *
 * A holder can only migrate after a switch on its lock's CPU, where it was
 * noticed; from then on it is followed by its entry in `off`, not by the CPU's
 * row. 64 such tasks at once; more are counted as lost.
 */
#ifndef SWAPLOCK_AGENT_BPF_OWNER_PROBE_BPF_H_
#define SWAPLOCK_AGENT_BPF_OWNER_PROBE_BPF_H_

#include "agent/bpf/hold_state.bpf.h"

struct sl_off off[SL_OFF];
__u64 off_used = 0;   /* bit i: off[i] is taken */
__u32 owner_rows = 0; /* CPUs with a row that is not empty; 0: nothing to do */

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1); /* CPUs */
  __type(key, __u32);
  __type(value, struct sl_row);
} rows SEC(".maps");

SL_INLINE struct sl_off* sl_off_find(struct task_struct* t) {
  __u64 used = *(volatile __u64*)&off_used;
  for (int i = 0; i < SL_OFF; i++) {
    if (!used) return 0;
    if ((used & 1) && off[i].task == (__u64)t) return &off[i];
    used >>= 1;
  }
  return 0;
}

SL_INLINE struct sl_off* sl_off_claim(struct task_struct* t) {
  for (int i = 0; i < SL_OFF; i++) {
    __u64 bit = 1ULL << i;
    if (*(volatile __u64*)&off_used & bit) continue;
    if (__sync_fetch_and_or(&off_used, bit) & bit) continue;
    off[i].since_ns = 0;
    off[i].pid = t->pid;
    off[i].task = (__u64)t;
    return &off[i];
  }
  sl_lose(SL_LOSS_OWNER_SLOTS_FULL);
  return 0;
}

SL_INLINE void sl_off_free(struct sl_off* entry) {
  __u64 i = (__u64)(entry - off);
  entry->task = 0;
  __sync_fetch_and_and(&off_used, ~(1ULL << (i & 63)));
}

SL_INLINE void sl_owner_leaves(bool preempt, struct task_struct* t) {
  struct sl_off* entry = off_used ? sl_off_find(t) : 0;
  if (entry && (sl_mutex_owner(entry->lock) != (__u64)t ||
                entry->pid != (__u64)t->pid)) {
    sl_off_free(entry);
    entry = 0;
  }
  if (!entry) {
    __u32 cpu = bpf_get_smp_processor_id();
    struct sl_row* row = bpf_map_lookup_elem(&rows, &cpu);
    if (!row) return;
    __u64 lock = 0;
    __u32 cell = 0;
    for (int i = 0; i < SL_ROW_LOCKS; i++) {
      if (!row->lock[i]) break;
      if (sl_mutex_owner(row->lock[i]) != (__u64)t) continue;
      lock = row->lock[i];
      cell = row->cell[i];
      break;
    }
    if (!lock) return;
    entry = sl_off_claim(t);
    if (!entry) return;
    entry->lock = lock;
    entry->cell = cell;
  }
  entry->slept = !preempt && sl_task_state(t) != 0;
  entry->woken_ns = 0;
  entry->since_ns = bpf_ktime_get_ns();
}

SL_INLINE void sl_owner_woken(struct task_struct* t) {
  struct sl_off* entry = sl_off_find(t);
  if (entry && entry->since_ns && entry->slept && !entry->woken_ns)
    entry->woken_ns = bpf_ktime_get_ns();
}

SL_INLINE void sl_owner_returns(struct task_struct* t) {
  struct sl_off* entry = sl_off_find(t);
  if (!entry || !entry->since_ns) return;
  struct sl_cpu* cpu = sl_this_cpu();
  struct sl_cell* cell = sl_cell_at(entry->cell);
  if (!cpu || !cell) return;
  __u64 now = bpf_ktime_get_ns();
  __u64 ns = now - entry->since_ns;
  __u64 blocked = 0;
  if (entry->slept)
    blocked = (entry->woken_ns ? entry->woken_ns : now) - entry->since_ns;
  __u64 runnable = ns - blocked;
  cell->sequence += 1;
  if (runnable) sl_dist_add(&cell->runnable, runnable, window);
  if (blocked) sl_dist_add(&cell->blocked, blocked, window);
  cell->sequence += 1;
  if (sl_enters_top(&cpu->top_holds, ns)) {
    struct sl_top_hold* top = sl_top_reserve(entry->cell, t);
    if (top) {
      top->facts.acquired_ns = entry->since_ns;
      top->facts.hold_ns = ns;
      top->facts.runnable_ns = runnable;
      top->facts.lock = entry->lock;
      top->facts.blocked_ns = blocked;
      top->facts.acquire_cpu = top->facts.release_cpu;
      top->facts.preemptions = !entry->slept;
      bpf_ringbuf_submit(top, BPF_RB_NO_WAKEUP);
    }
  }
  entry->since_ns = 0;
}

#endif /* SWAPLOCK_AGENT_BPF_OWNER_PROBE_BPF_H_ */
