/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Waiting for a lock: a task's last wait for a mutex, what its owner was doing
 * meanwhile, and learning zswap's lock where no hook shows it.
 */
#ifndef SWAPLOCK_AGENT_BPF_LOCK_WAIT_BPF_H_
#define SWAPLOCK_AGENT_BPF_LOCK_WAIT_BPF_H_

#include "agent/bpf/hold_state.bpf.h"

/* --- learning zswap's lock where no hook shows it ------------------------ */

/* Text of the functions whose callees take zswap's lock: [begin, end). Set by
 * the agent from kallsyms; all zero when there is nothing to learn. */
#define SL_ZSWAP_TEXT 6
struct {
  __u64 begin;
  __u64 end;
} zswap_text[SL_ZSWAP_TEXT];
/* Stacks that may still be looked at (2 us each); the agent refills it. */
__s32 learn_budget = 0;
#define SL_LEARNED 8
struct {
  __u64 lock;
  __u64 cpu;
} learned[SL_LEARNED];
__u32 learned_count = 0;

struct sl_stack {
  __u64 ip[16];
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sl_stack);
} stacks SEC(".maps");

/* A contended mutex that nobody knows: is its waiter inside zswap? */
SL_INLINE void sl_learn(void* ctx, __u64 lock) {
  __u32 zero = 0;
  if (learn_budget <= 0) return;
  learn_budget -= 1;
  struct sl_stack* stack = bpf_map_lookup_elem(&stacks, &zero);
  if (!stack) return;
  long bytes = bpf_get_stack(ctx, stack->ip, sizeof(stack->ip), 0);
  if (bytes <= 0) return;
  for (int i = 0; i < 16; i++) {
    if (i * 8 >= bytes) return;
    for (int j = 0; j < SL_ZSWAP_TEXT; j++) {
      if (stack->ip[i] < zswap_text[j].begin ||
          stack->ip[i] >= zswap_text[j].end)
        continue;
      for (int k = 0; k < SL_LEARNED; k++)
        if (learned[k].lock == lock) return;
      __u32 at = __sync_fetch_and_add(&learned_count, 1);
      if (at >= SL_LEARNED) return;
      learned[at].cpu = bpf_get_smp_processor_id();
      learned[at].lock = lock;
      return;
    }
  }
}

/* --- waiting ------------------------------------------------------------ */

SL_INLINE void sl_wait_begin(struct sl_wait* wait, __u64 lock, __u32 flags) {
  struct task_struct* me = bpf_get_current_task_btf();
  /* A waiter begins again each time it starts to spin or sleep. */
  if (wait->waiting && wait->lock == lock) return;
  if (wait->waiting) sl_lose(SL_LOSS_WAIT_UNSEEN);
  wait->waiting = 1;
  wait->owns = 0;
  wait->flags = flags;
  wait->lock = lock;
  wait->end.ns = 0;
  wait->owner_state = SL_OWNER_NONE;
  wait->inversion = 0;
  wait->owner_runnable_ns = 0;
  wait->owner = sl_lock_owner(lock, flags);
  if (wait->owner) {
    struct task_struct* owner = (struct task_struct*)wait->owner;
    int prio = 0;
    bpf_core_read(&wait->owner_pid, sizeof(int), &owner->pid);
    bpf_core_read(&wait->owner_run_delay, sizeof(__u64),
                  &owner->sched_info.run_delay);
    bpf_core_read(&prio, sizeof(prio), &owner->prio);
    wait->inversion = me->prio < prio;
    if (BPF_CORE_READ_BITFIELD_PROBED(owner, on_cpu))
      wait->owner_state = SL_OWNER_RUNNING;
    else
      wait->owner_state =
          sl_task_state(owner) ? SL_OWNER_BLOCKED : SL_OWNER_RUNNABLE;
  }
  wait->begin_ns = bpf_ktime_get_ns();
}

SL_INLINE void sl_wait_end(struct sl_wait* wait) {
  sl_snapshot(bpf_get_current_task_btf(), &wait->end);
  wait->waiting = 0;
  if (wait->owner) {
    struct task_struct* owner = (struct task_struct*)wait->owner;
    __u32 pid = 0;
    __u64 run_delay = 0;
    bpf_core_read(&pid, sizeof(pid), &owner->pid);
    bpf_core_read(&run_delay, sizeof(run_delay), &owner->sched_info.run_delay);
    __u64 waited = wait->end.ns - wait->begin_ns;
    /* The address may have become another task's in the meantime. */
    if (pid == wait->owner_pid && run_delay > wait->owner_run_delay) {
      wait->owner_runnable_ns = run_delay - wait->owner_run_delay;
      if (wait->owner_runnable_ns > waited) wait->owner_runnable_ns = waited;
    }
  }
}

/* The wait that has just ended gave the task a lock whose hold hooks will show
 * when the function that takes it returns. It may be switched out before, so it
 * is a holder from here on. Not where several hold: their lock does not say
 * whether this one still does. */
SL_INLINE void sl_wait_gave(struct sl_task* task, __u32 cell) {
  struct sl_cpu* cpu = sl_this_cpu();
  if (!armed_ns[SL_CLASS_ZRAM] || !cpu || (task->wait.flags & LCB_F_READ))
    return;
  task->wait.owns = 1;
  task->wait.cell = cell;
  task->wait.cpu = bpf_get_smp_processor_id();
  task->left = 0;
  task->nvcsw_seen = task->wait.end.nvcsw;
  cpu->holder = (__u64)bpf_get_current_task_btf();
}

SL_INLINE void sl_count_wait(struct sl_cell* cell, __u64 wait_ns,
                             __u8 owner_state, __u8 inversion,
                             __u64 owner_runnable_ns) {
  sl_dist_add(&cell->wait, wait_ns, window);
  if (owner_state == SL_OWNER_RUNNING) cell->waits_owner_running += 1;
  if (owner_state == SL_OWNER_RUNNABLE) cell->waits_owner_runnable += 1;
  if (owner_state == SL_OWNER_BLOCKED) cell->waits_owner_blocked += 1;
  cell->inversions += inversion;
  cell->wait_owner_runnable_ns += owner_runnable_ns;
}

/* The wait that has just given the current task a lock of ours. */
SL_INLINE void sl_top_wait(struct sl_wait* wait, __u32 cell) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct sl_cpu* cpu = sl_this_cpu();
  __u64 ns = wait->end.ns - wait->begin_ns;
  if (!cpu || !sl_enters_top(&cpu->top_waits, ns)) return;
  struct sl_top_wait* top = bpf_ringbuf_reserve(&top_ring, sizeof(*top), 0);
  if (!top) {
    sl_lose(SL_LOSS_TOP_RING_FULL);
    return;
  }
  top->record = SL_RECORD_WAIT;
  top->window = window;
  top->begin_ns = wait->begin_ns;
  top->wait_ns = ns;
  top->lock = wait->lock;
  top->cell = cell;
  top->owner_pid = wait->owner ? wait->owner_pid : 0;
  top->pid = t->pid;
  top->static_prio = t->static_prio;
  top->policy = t->policy;
  top->inversion = wait->inversion;
  bpf_probe_read_kernel(top->comm, sizeof(top->comm), t->comm);
  bpf_ringbuf_submit(top, BPF_RB_NO_WAKEUP);
}

#endif /* SWAPLOCK_AGENT_BPF_LOCK_WAIT_BPF_H_ */
