/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* A holder is switched out and comes back: for how long, why, and who ran
 * instead. Called by the sched_switch hook for tasks inside a lock only.
 */
#ifndef SWAPLOCK_AGENT_BPF_HOLDER_OFF_CPU_BPF_H_
#define SWAPLOCK_AGENT_BPF_HOLDER_OFF_CPU_BPF_H_

#include "agent/bpf/hold_state.bpf.h"

/* The last voluntary switch-out's interval, now that run_delay tells how much
 * of it was spent waiting for a CPU after the wake-up. */
SL_INLINE void sl_settle_sleep(struct sl_task* task, struct task_struct* t) {
  if (!task->slept_ns) return;
  __u64 woken = t->sched_info.run_delay - task->off_run_delay;
  if (woken > task->slept_ns) woken = task->slept_ns;
  task->time.woken_ns += woken;
  task->time.blocked_ns += task->slept_ns - woken;
  task->slept_ns = 0;
}

SL_INLINE void sl_add_actor(struct sl_actor* actors, __u32 pid,
                            __s32 static_prio, __u32 policy, const char* comm,
                            __u64 ns) {
  __u32 at = 0;
  for (__u32 i = 0; i < SL_RAN; i++) {
    if (actors[i].pid == pid) {
      actors[i].ns += ns;
      return;
    }
    if (actors[i].ns < actors[at & (SL_RAN - 1)].ns) at = i;
  }
  struct sl_actor* actor = &actors[at & (SL_RAN - 1)];
  if (actor->pid && actor->ns >= ns) return;
  actor->pid = pid;
  actor->static_prio = static_prio;
  actor->policy = policy;
  actor->ns = ns;
  bpf_probe_read_kernel(actor->comm, sizeof(actor->comm), comm);
}

/* Time that cpu.max has kept the task's group, or one around it, off CPUs.
 * Since 6.18 it stops each task on its way to user space, so never inside a
 * lock, and what the group was stopped for is not the holder's
 * (kernel/sched/fair.c, throttle_cfs_rq_work()). */
SL_INLINE __u64 sl_throttled(struct task_struct* t) {
  __u64 ns = 0;
  if (bpf_core_field_exists(t->sched_throttle_work) ||
      !bpf_core_field_exists(t->sched_task_group) ||
      !bpf_core_field_exists(((struct cfs_bandwidth*)0)->throttled_time))
    return 0;
  struct task_group* group = t->sched_task_group;
  for (int depth = 0; depth < 4; depth++) {
    if (!group) break;
    ns += group->cfs_bandwidth.throttled_time;
    group = group->parent;
  }
  return ns;
}

/* `prev` leaves this CPU, and may be inside a lock. */
SL_INLINE void sl_holder_leaves(void* ctx, struct sl_cpu* cpu,
                                struct task_struct* prev) {
  __u64 now = 0;
  if (cpu->off_holder) {
    now = bpf_ktime_get_ns();
    if (prev->pid)
      sl_add_actor(cpu->ran, prev->pid, prev->static_prio, prev->policy,
                   prev->comm, now - cpu->runner_since_ns);
    cpu->runner_since_ns = now;
  }
  if (cpu->holder != (__u64)prev) return;
  cpu->holder = 0;
  struct sl_task* task = bpf_task_storage_get(&tasks, prev, 0, 0);
  if (!task || !(task->hold[SL_CLASS_ZSWAP].active ||
                 task->hold[SL_CLASS_ZRAM].active || sl_owns(task, prev)))
    return;
  if (!now) now = bpf_ktime_get_ns();
  if (task->left) {
    sl_settle_sleep(task, prev);
  } else {
    task->slept_ns = 0;
    __builtin_memset(&task->time, 0, sizeof(task->time));
    for (int i = 0; i < SL_RAN; i++) {
      task->ran[i].pid = 0;
      task->ran[i].ns = 0;
    }
    task->left = 1;
  }
  task->off = 1;
  task->off_since_ns = now;
  task->off_slept = prev->nvcsw != task->nvcsw_seen;
  task->nvcsw_seen = prev->nvcsw;
  task->off_run_delay = prev->sched_info.run_delay;
  task->off_throttled = sl_throttled(prev);
  task->off_cpu = bpf_get_smp_processor_id();
  bpf_get_stack(ctx, task->switch_stack, sizeof(task->switch_stack), 0);
  __sync_fetch_and_add(&holders_off, 1);
  if (task->off_slept || cpu->off_holder) return;
  for (int i = 0; i < SL_RAN; i++) {
    cpu->ran[i].pid = 0;
    cpu->ran[i].ns = 0;
  }
  cpu->runner_since_ns = now;
  cpu->off_holder = (__u64)prev;
}

/* `next` comes to this CPU, and may have been switched out inside a lock. */
SL_INLINE void sl_holder_returns(struct sl_cpu* cpu, struct task_struct* next) {
  struct sl_task* task = bpf_task_storage_get(&tasks, next, 0, 0);
  if (!task || !task->off) return;
  __sync_fetch_and_add(&holders_off, -1);
  __u64 ns = bpf_ktime_get_ns() - task->off_since_ns;
  __u32 left = task->off_cpu;
  task->off = 0;
  cpu->holder = (__u64)next;
  if (left != bpf_get_smp_processor_id()) task->time.migrations += 1;
  if (task->off_slept) {
    task->slept_ns = ns;
    return;
  }
  task->time.preempted_ns += ns;
  __u64 throttled = sl_throttled(next) - task->off_throttled;
  task->time.throttled_ns += throttled < ns ? throttled : ns;
  struct sl_cpu* from = bpf_map_lookup_elem(&cpus, &left);
  if (!from || from->off_holder != (__u64)next) return;
  for (int i = 0; i < SL_RAN; i++)
    if (from->ran[i].pid)
      sl_add_actor(task->ran, from->ran[i].pid, from->ran[i].static_prio,
                   from->ran[i].policy, from->ran[i].comm, from->ran[i].ns);
  from->off_holder = 0;
}

#endif /* SWAPLOCK_AGENT_BPF_HOLDER_OFF_CPU_BPF_H_ */
