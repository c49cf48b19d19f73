/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A hold begins and ends: its stamps, its parts, and its cell. */
#ifndef SWAPLOCK_AGENT_BPF_HOLD_TIME_BPF_H_
#define SWAPLOCK_AGENT_BPF_HOLD_TIME_BPF_H_

#include "agent/bpf/holder_off_cpu.bpf.h"
#include "agent/bpf/lock_wait.bpf.h"

/* The current task has the lock. `lock` is its address, or 0 when only the
 * mutex's owner word can tell whether the task's last wait was for it. */
SL_INLINE void sl_acquired(struct sl_task* task, enum sl_class class,
                           __u32 base, __u8 op, __u64 lock) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct sl_hold* hold = &task->hold[class];
  struct sl_wait* wait = &task->wait;
  struct sl_cpu* cpu = sl_this_cpu();
  bool owned = false; /* a holder since sl_wait_gave() */
  if (!armed_ns[class]) return;
  if (hold->active) sl_lose(SL_LOSS_RELEASE_UNSEEN);
  hold->active = SL_NOT_HELD;
  hold->contended = 0;
  hold->wait_ns = 0;
  hold->owner_state = SL_OWNER_NONE;
  hold->inversion = 0;
  hold->owner_runnable_ns = 0;
  hold->base = base;
  hold->op = op;
  hold->lock = lock;
  if (wait->end.ns &&
      (lock ? wait->lock == lock : sl_mutex_owner(wait->lock) == (__u64)t)) {
    hold->lock = wait->lock;
    owned = wait->owns;
    sl_top_wait(wait, base + op);
    hold->contended = 1;
    hold->wait_ns = wait->end.ns - wait->begin_ns;
    hold->owner_state = wait->owner_state;
    hold->inversion = wait->inversion;
    hold->owner_runnable_ns = wait->owner_runnable_ns;
  }
  if (timing_shift &&
      (bpf_get_prandom_u32() & ((1U << (timing_shift & 31)) - 1))) {
    wait->end.ns = 0;
    hold->active = SL_COUNTED;
    if (owned && cpu && cpu->holder == (__u64)t) cpu->holder = 0;
    return;
  }
  hold->acquire_cpu = owned ? wait->cpu : bpf_get_smp_processor_id();
  if (!owned) {
    task->left = 0;
    task->nvcsw_seen = t->nvcsw;
  }
  /* A holder before its stamp is made, so that it is known as one wherever it
   * is switched out after that; not in progress before it is. */
  hold->acquired.ns = ~0ULL;
  sl_in_this_order();
  hold->active = SL_TIMED;
  if (cpu) cpu->holder = (__u64)t;
  sl_in_this_order();
  /* contention_end is the better stamp: the function that takes the lock may
   * be preempted between owning it and returning. */
  if (hold->contended)
    hold->acquired = wait->end;
  else
    sl_snapshot(t, &hold->acquired);
  wait->end.ns = 0;
}

/* Parts of the runnable part, held within it: the clocks differ a little. */
struct sl_runnable {
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 migrations;
};

SL_INLINE struct sl_runnable sl_split_runnable(const struct sl_off_time* time,
                                               __u64 runnable_ns) {
  struct sl_runnable r;
  r.preempted_ns = time->preempted_ns;
  if (r.preempted_ns > runnable_ns) r.preempted_ns = runnable_ns;
  r.woken_ns = time->woken_ns;
  if (r.woken_ns > runnable_ns - r.preempted_ns)
    r.woken_ns = runnable_ns - r.preempted_ns;
  r.throttled_ns = time->throttled_ns;
  if (r.throttled_ns > r.preempted_ns) r.throttled_ns = r.preempted_ns;
  r.migrations = time->migrations;
  return r;
}

SL_INLINE void sl_report_hold(void* ctx, struct sl_task* task,
                              struct sl_hold* hold, struct task_struct* t,
                              __u32 index, __u64 ns, __u64 nivcsw,
                              struct sl_parts* parts,
                              struct sl_runnable* split) {
  struct sl_top_hold* top = sl_top_reserve(index, t);
  if (!top) return;
  top->facts.acquired_ns = hold->acquired.ns;
  top->facts.hold_ns = ns;
  top->facts.on_cpu_ns = parts->on_cpu_ns;
  top->facts.runnable_ns = parts->runnable_ns;
  top->facts.blocked_ns = parts->blocked_ns;
  top->facts.unknown_ns = parts->unknown_ns;
  top->facts.preempted_ns = split->preempted_ns;
  top->facts.woken_ns = split->woken_ns;
  top->facts.throttled_ns = split->throttled_ns;
  top->facts.migrations = (__u32)split->migrations;
  top->facts.wait_ns = hold->wait_ns;
  top->facts.lock = hold->lock;
  top->facts.cgroup = bpf_get_current_cgroup_id();
  top->facts.acquire_cpu = hold->acquire_cpu;
  top->facts.preemptions = (__u32)(nivcsw - hold->acquired.nivcsw);
  if (task->left) {
    __builtin_memcpy(top->ran, task->ran, sizeof(top->ran));
    __builtin_memcpy(top->switch_stack, task->switch_stack,
                     sizeof(top->switch_stack));
  }
  bpf_get_stack(ctx, top->release_stack, sizeof(top->release_stack), 0);
  bpf_ringbuf_submit(top, BPF_RB_NO_WAKEUP);
}

/* A hold that was not timed ends. */
SL_INLINE void sl_count_hold(struct sl_task* task, enum sl_class class) {
  struct sl_hold* hold = &task->hold[class];
  __u8 outer = task->outer_op[class];
  struct sl_cell* cell = sl_cell_at(hold->base + (outer ? outer : hold->op));
  hold->active = SL_NOT_HELD;
  if (!cell) return;
  cell->sequence += 1;
  cell->untimed += 1;
  if (hold->contended)
    sl_count_wait(cell, hold->wait_ns, hold->owner_state, hold->inversion,
                  hold->owner_runnable_ns);
  cell->sequence += 1;
}

/* The current task is about to give the lock back. */
SL_INLINE void sl_released(void* ctx, struct sl_task* task,
                           enum sl_class class) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct sl_hold* hold = &task->hold[class];
  struct sl_snapshot now;
  struct sl_cpu* cpu;
  struct sl_cell* cell;
  /* zswap's programs come and go, so its hold may be of an earlier time. */
  if (class == SL_CLASS_ZSWAP && hold->acquired.ns < armed_ns[class])
    hold->active = SL_NOT_HELD;
  if (!hold->active) {
    task->wait.end.ns = 0;
    if (armed_ns[class]) sl_lose(SL_LOSS_ACQUIRE_UNSEEN);
    return;
  }
  if (hold->active == SL_COUNTED) {
    sl_count_hold(task, class);
    return;
  }
  sl_snapshot(t, &now);
  hold->active = SL_NOT_HELD;
  cpu = sl_this_cpu();
  __u8 op = task->outer_op[class] ? task->outer_op[class] : hold->op;
  __u32 index = hold->base + op;
  cell = sl_cell_at(index);
  if (!cpu || !cell) return;
  if (cpu->holder == (__u64)t) cpu->holder = 0;

  __u64 ns = now.ns - hold->acquired.ns;
  struct sl_parts parts = {ns, 0, 0, 0};
  struct sl_runnable split = {0, 0, 0, 0};
  bool on_cpu = now.run_delay == hold->acquired.run_delay &&
                now.nvcsw == hold->acquired.nvcsw &&
                now.nivcsw == hold->acquired.nivcsw;
  if (!on_cpu) {
    if (task->left)
      sl_settle_sleep(task, t);
    else
      __builtin_memset(&task->time, 0, sizeof(task->time));
    parts = sl_split(ns, now.run_delay - hold->acquired.run_delay,
                     now.nvcsw != hold->acquired.nvcsw, blocked_known,
                     task->time.blocked_ns);
    split = sl_split_runnable(&task->time, parts.runnable_ns);
  }
  cell->sequence += 1;
  if (hold->contended)
    sl_count_wait(cell, hold->wait_ns, hold->owner_state, hold->inversion,
                  hold->owner_runnable_ns);
  sl_dist_add(&cell->hold, ns, window);
  cell->on_cpu_ns += parts.on_cpu_ns;
  if (!on_cpu) {
    if (parts.runnable_ns)
      sl_dist_add(&cell->runnable, parts.runnable_ns, window);
    if (parts.blocked_ns) sl_dist_add(&cell->blocked, parts.blocked_ns, window);
    cell->unknown_ns += parts.unknown_ns;
    cell->preempted_ns += split.preempted_ns;
    cell->woken_ns += split.woken_ns;
    cell->throttled_ns += split.throttled_ns;
    cell->migrations += split.migrations;
  }
  cell->sequence += 1;
  if (sl_enters_top(&cpu->top_holds, ns))
    sl_report_hold(ctx, task, hold, t, index, ns, now.nivcsw, &parts, &split);
}

#endif /* SWAPLOCK_AGENT_BPF_HOLD_TIME_BPF_H_ */
