/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Maps, per-task state, and the three things that happen to a lock: a wait
 * ends, a hold begins, a hold ends. The hooks of hold_sampler.bpf.c call these.
 *
 * Who may be interrupted: fentry and fexit programs run preemptible, so a
 * snapshot of the scheduler's counters is read again when it moved. Tracepoints
 * of sched and of mutex contention run with preemption off.
 *
 * Who writes a cell: only programs of the cell's own lock class, on their own
 * CPU, most of them while holding that CPU's lock; the kernel's recursion guard
 * keeps a program from running twice on one CPU. So plain additions do.
 */
#ifndef SWAPLOCK_AGENT_BPF_HOLD_STATE_BPF_H_
#define SWAPLOCK_AGENT_BPF_HOLD_STATE_BPF_H_

#include "agent/bpf/kernel_types.bpf.h"
/* The kernel's types come first. */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "agent/bpf/hold_math.h"

/* The agent drains the ring by the clock; nobody is woken from a lock path. */
#define BPF_RB_NO_WAKEUP 1

/* Knobs, set before loading. */
const volatile __u32 cells_per_cpu = 1;
/* Whether switch_hook is loaded, so that the blocked part can be known. */
const volatile bool blocked_known = false;
/* struct zcomp_strm: where its lock lies. */
const volatile __u32 zram_lock_offset = 0;

/* Written by the agent. */
__u32 window = 1; /* counts up at each window's end */
struct sl_comp comps[SL_COMPS];

/* 0 until every program is attached: a hold whose release could not have been
 * seen is not begun. */
__u32 armed = 0;

/* Tasks that were switched out inside a lock and have not run again. */
__u32 holders_off = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); /* CPUs x cells_per_cpu */
  __type(key, __u32);
  __type(value, struct sl_cell);
} cells SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); /* CPUs */
  __type(key, __u32);
  __type(value, struct sl_cpu);
} cpus SEC(".maps");

/* Read-only for programs: no bucket lock is ever taken on a lock path. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u64); /* lock address */
  __type(value, struct sl_lock);
} locks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 256 * 1024);
} top_ring SEC(".maps");

/* Scheduler counters of one task at one moment. */
struct sl_snapshot {
  __u64 ns; /* CLOCK_MONOTONIC */
  __u64 run_delay;
  __u64 nvcsw;
  __u64 nivcsw;
};

/* Put the ring's records into the object's type information for the test that
 * compares layouts; nothing reads them. */
struct sl_top_hold* top_hold_layout = 0;
struct sl_top_wait* top_wait_layout = 0;

/* The last wait of a task for a mutex. */
struct sl_wait {
  __u64 lock;
  __u64 begin_ns;
  struct sl_snapshot end; /* end.ns is 0 while waiting and once used */
  __u64 owner;            /* task that held it at begin, or 0 */
  __u64 owner_run_delay;
  __u64 owner_runnable_ns; /* of the wait */
  __u32 owner_pid;
  __u8 owner_state; /* enum sl_owner */
  __u8 inversion;
  __u8 waiting;
  __u8 reserved;
};

enum sl_owner {
  SL_OWNER_NONE = 0,
  SL_OWNER_RUNNING = 1,
  SL_OWNER_RUNNABLE = 2,
  SL_OWNER_BLOCKED = 3,
};

/* How a task that was switched out inside a lock spent its time; only grows. */
struct sl_off_time {
  __u64 blocked_ns;
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 migrations;
};

struct sl_hold {
  struct sl_snapshot acquired;
  __u64 wait_ns;
  __u64 lock;
  struct sl_off_time before; /* sl_task.time at the acquisition */
  __u64 owner_runnable_ns;
  __u32 base; /* cell of SL_OP_ANY of its target */
  __u32 acquire_cpu;
  __u8 active;
  __u8 op;
  __u8 contended;
  __u8 owner_state;
  __u8 inversion;
  __u8 reserved[3];
};

/* No task holds two locks of one class: zram writes from inside zram go
 * through the block layer's queue, zswap never reclaims under its lock. */
enum sl_class { SL_CLASS_ZSWAP = 0, SL_CLASS_ZRAM = 1 };
#define SL_CLASSES 2

struct sl_task {
  struct sl_hold hold[SL_CLASSES];
  struct sl_wait wait;
  /* Where the task is in zswap or zram, by the hooks on the outer functions. */
  __u8 in_store;
  __u8 in_decompress;
  __u8 off;                  /* switched out inside a lock */
  __u8 outer_op[SL_CLASSES]; /* SL_OP_RECOMPRESS, SL_OP_WRITEBACK or 0 */
  __u8 reserved[3];
  /* Off the CPU inside a lock; kept by switch_hook. */
  __u64 nvcsw_seen;
  __u64 off_since_ns;
  __u64 off_run_delay;
  __u64 off_throttled;
  __u64 slept_ns; /* the last voluntary interval, not yet in `time` */
  __u32 off_cpu;
  __u32 off_slept;
  struct sl_off_time time;
  struct sl_actor ran[SL_RAN]; /* instead of this task */
  __u64 switch_stack[SL_STACK];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct sl_task);
} tasks SEC(".maps");

SL_INLINE struct sl_cpu* sl_this_cpu(void) {
  __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&cpus, &cpu);
}

SL_INLINE void sl_lose(enum sl_loss reason) {
  struct sl_cpu* cpu = sl_this_cpu();
  if (cpu) cpu->loss[reason] += 1;
}

SL_INLINE struct sl_cell* sl_cell_at(__u32 index) {
  __u32 at = bpf_get_smp_processor_id() * cells_per_cpu + index;
  if (index >= cells_per_cpu) return 0;
  return bpf_map_lookup_elem(&cells, &at);
}

SL_INLINE struct sl_task* sl_task_find(void) {
  return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
}

/* Only from hooks that run where the kernel may allocate. */
SL_INLINE struct sl_task* sl_task_make(void) {
  struct sl_task* task = bpf_task_storage_get(
      &tasks, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!task) sl_lose(SL_LOSS_NO_TASK_STORAGE);
  return task;
}

/* Clock and counters of the current task as of one moment: if the task was
 * switched out between the reads, they are made again. */
SL_INLINE void sl_snapshot(struct task_struct* t, struct sl_snapshot* s) {
  for (int i = 0; i < 4; i++) {
    s->nvcsw = *(volatile unsigned long*)&t->nvcsw;
    s->nivcsw = *(volatile unsigned long*)&t->nivcsw;
    s->run_delay = *(volatile unsigned long long*)&t->sched_info.run_delay;
    s->ns = bpf_ktime_get_ns();
    if (*(volatile unsigned long*)&t->nvcsw == s->nvcsw &&
        *(volatile unsigned long*)&t->nivcsw == s->nivcsw)
      return;
  }
  sl_lose(SL_LOSS_UNSTABLE_SNAPSHOT);
}

SL_INLINE __u64 sl_mutex_owner(__u64 lock) {
  __u64 owner = 0;
  struct mutex* mutex = (struct mutex*)lock;
  if (!lock || bpf_core_read(&owner, sizeof(owner), &mutex->owner.counter))
    return 0;
  return owner & ~7ULL;
}

SL_INLINE __u32 sl_task_state(struct task_struct* t) {
  if (bpf_core_field_exists(t->__state)) {
    unsigned int state = 0;
    bpf_core_read(&state, sizeof(state), &t->__state);
    return state;
  }
  struct task_struct___state* old = (void*)t;
  long state = 0;
  bpf_core_read(&state, sizeof(state), &old->state);
  return (__u32)state;
}

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

SL_INLINE void sl_wait_begin(struct sl_wait* wait, __u64 lock) {
  struct task_struct* me = bpf_get_current_task_btf();
  /* A mutex's waiter begins again each time it starts to spin or sleep. */
  if (wait->waiting && wait->lock == lock) return;
  if (wait->waiting) sl_lose(SL_LOSS_WAIT_UNSEEN);
  wait->waiting = 1;
  wait->lock = lock;
  wait->end.ns = 0;
  wait->owner_state = SL_OWNER_NONE;
  wait->inversion = 0;
  wait->owner_runnable_ns = 0;
  wait->owner = sl_mutex_owner(lock);
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

/* --- top holds ---------------------------------------------------------- */

/* Whether a duration is among this CPU's SL_TOP longest of the window so far;
 * if so it takes the place of the shortest of them. */
SL_INLINE bool sl_enters_top(struct sl_top* top, __u64 ns) {
  __u32 at = 0;
  if (top->window != window) {
    top->window = window;
    for (int i = 0; i < SL_TOP; i++) top->ns[i] = 0;
  }
  for (__u32 i = 1; i < SL_TOP; i++)
    if (top->ns[i] < top->ns[at & (SL_TOP - 1)]) at = i;
  if (ns <= top->ns[at & (SL_TOP - 1)]) return false;
  top->ns[at & (SL_TOP - 1)] = ns;
  return true;
}

SL_INLINE struct sl_top_hold* sl_top_reserve(__u32 cell,
                                             struct task_struct* t) {
  struct sl_top_hold* top = bpf_ringbuf_reserve(&top_ring, sizeof(*top), 0);
  if (!top) {
    sl_lose(SL_LOSS_TOP_RING_FULL);
    return 0;
  }
  __builtin_memset(top, 0, sizeof(*top));
  top->facts.record = SL_RECORD_HOLD;
  top->facts.window = window;
  top->facts.cell = cell;
  top->facts.pid = t->pid;
  top->facts.tgid = t->tgid;
  top->facts.static_prio = t->static_prio;
  top->facts.policy = t->policy;
  bpf_probe_read_kernel(top->facts.comm, sizeof(top->facts.comm), t->comm);
  top->facts.release_cpu = bpf_get_smp_processor_id();
  return top;
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

/* --- holding ------------------------------------------------------------ */

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

/* The current task has the lock. `lock` is its address, or 0 when only the
 * mutex's owner word can tell whether the task's last wait was for it. */
SL_INLINE void sl_acquired(struct sl_task* task, enum sl_class class,
                           __u32 base, __u8 op, __u64 lock) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct sl_hold* hold = &task->hold[class];
  struct sl_wait* wait = &task->wait;
  struct sl_cpu* cpu = sl_this_cpu();
  if (!armed) return;
  if (hold->active) sl_lose(SL_LOSS_RELEASE_UNSEEN);
  hold->active = 0;
  hold->contended = 0;
  hold->wait_ns = 0;
  hold->owner_state = SL_OWNER_NONE;
  hold->inversion = 0;
  hold->owner_runnable_ns = 0;
  if (wait->end.ns &&
      (lock ? wait->lock == lock : sl_mutex_owner(wait->lock) == (__u64)t)) {
    /* contention_end is the better stamp: the function that takes the lock
     * may be preempted between owning it and returning. */
    hold->acquired = wait->end;
    lock = wait->lock;
    sl_top_wait(wait, base + op);
    hold->contended = 1;
    hold->wait_ns = wait->end.ns - wait->begin_ns;
    hold->owner_state = wait->owner_state;
    hold->inversion = wait->inversion;
    hold->owner_runnable_ns = wait->owner_runnable_ns;
  } else {
    sl_snapshot(t, &hold->acquired);
  }
  wait->end.ns = 0;
  hold->base = base;
  hold->op = op;
  hold->acquire_cpu = bpf_get_smp_processor_id();
  hold->lock = lock;
  hold->before = task->time;
  for (int i = 0; i < SL_RAN; i++) task->ran[i].pid = 0;
  for (int i = 0; i < SL_RAN; i++) task->ran[i].ns = 0;
  task->switch_stack[0] = 0;
  task->nvcsw_seen = hold->acquired.nvcsw;
  hold->active = 1;
  if (cpu) cpu->holder = (__u64)t;
}

/* Parts of the runnable part, held within it: the clocks differ a little. */
struct sl_runnable {
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 migrations;
};

SL_INLINE struct sl_runnable sl_split_runnable(const struct sl_task* task,
                                               const struct sl_hold* hold,
                                               __u64 runnable_ns) {
  struct sl_runnable r;
  r.preempted_ns = task->time.preempted_ns - hold->before.preempted_ns;
  if (r.preempted_ns > runnable_ns) r.preempted_ns = runnable_ns;
  r.woken_ns = task->time.woken_ns - hold->before.woken_ns;
  if (r.woken_ns > runnable_ns - r.preempted_ns)
    r.woken_ns = runnable_ns - r.preempted_ns;
  r.throttled_ns = task->time.throttled_ns - hold->before.throttled_ns;
  if (r.throttled_ns > r.preempted_ns) r.throttled_ns = r.preempted_ns;
  r.migrations = task->time.migrations - hold->before.migrations;
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
  __builtin_memcpy(top->ran, task->ran, sizeof(top->ran));
  __builtin_memcpy(top->switch_stack, task->switch_stack,
                   sizeof(top->switch_stack));
  bpf_get_stack(ctx, top->release_stack, sizeof(top->release_stack), 0);
  bpf_ringbuf_submit(top, BPF_RB_NO_WAKEUP);
}

/* The current task is about to give the lock back. */
SL_INLINE void sl_released(void* ctx, struct sl_task* task,
                           enum sl_class class) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct sl_hold* hold = &task->hold[class];
  struct sl_snapshot now;
  struct sl_cpu* cpu;
  struct sl_cell* cell;
  if (!hold->active) {
    task->wait.end.ns = 0;
    if (armed) sl_lose(SL_LOSS_ACQUIRE_UNSEEN);
    return;
  }
  sl_snapshot(t, &now);
  hold->active = 0;
  sl_settle_sleep(task, t);
  cpu = sl_this_cpu();
  __u8 op = task->outer_op[class] ? task->outer_op[class] : hold->op;
  __u32 index = hold->base + op;
  cell = sl_cell_at(index);
  if (!cpu || !cell) return;
  if (cpu->holder == (__u64)t) cpu->holder = 0;

  __u64 ns = now.ns - hold->acquired.ns;
  struct sl_parts parts =
      sl_split(ns, now.run_delay - hold->acquired.run_delay,
               now.nvcsw != hold->acquired.nvcsw, blocked_known,
               task->time.blocked_ns - hold->before.blocked_ns);
  struct sl_runnable split = sl_split_runnable(task, hold, parts.runnable_ns);
  cell->sequence += 1;
  if (hold->contended)
    sl_count_wait(cell, hold->wait_ns, hold->owner_state, hold->inversion,
                  hold->owner_runnable_ns);
  sl_dist_add(&cell->hold, ns, window);
  cell->on_cpu_ns += parts.on_cpu_ns;
  if (parts.on_cpu_ns != ns) {
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

/* --- off the CPU while holding -------------------------------------------- */

/* Time that cpu.max has kept the task's group, or one around it, off CPUs. */
SL_INLINE __u64 sl_throttled(struct task_struct* t) {
  __u64 ns = 0;
  if (!bpf_core_field_exists(t->sched_task_group) ||
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
  if (!task ||
      !(task->hold[SL_CLASS_ZSWAP].active || task->hold[SL_CLASS_ZRAM].active))
    return;
  if (!now) now = bpf_ktime_get_ns();
  sl_settle_sleep(task, prev);
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

#endif /* SWAPLOCK_AGENT_BPF_HOLD_STATE_BPF_H_ */
