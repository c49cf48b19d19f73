/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Maps, per-task state and per-CPU state of the programs. What happens to them
 * is in lock_wait.bpf.h (a task waits), hold_time.bpf.h (a task holds) and
 * holder_off_cpu.bpf.h (a holder is switched out).
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
/* struct zcomp_strm or zcomp_cstrm, and zcomp_dstrm: where the lock lies. */
const volatile __u32 zram_lock_offset = 0;
const volatile __u32 zram_dstrm_lock_offset = 0;
/* enum sl_shared_by, and where zcomp_dstrm has what tells it. */
const volatile __u32 zram_shared_by = 0;
const volatile __u32 zram_shared_offset = 0;
/* Parameters of zcomp_dstrm_get(). */
const volatile __u32 zram_dget_parameters = 1;
/* Which argument of zcomp_compress() and zcomp_decompress() is the stream, from
 * 0: the first up to 6.11, the second since. */
const volatile __u32 zram_stream_argument = 1;

/* Written by the agent. */
__u32 window = 1; /* counts up at each window's end */
struct sl_comp comps[SL_COMPS];
struct sl_zram_device zram_devices[SL_ZRAM_DEVICES];
__u64 cpu0_offset = 0; /* __per_cpu_offset[0]; 0: not known */

/* When the last of a class's hooks was attached, CLOCK_MONOTONIC, or 0: a hold
 * whose release could not have been seen is not begun. */
__u64 armed_ns[SL_CLASSES];

/* What zcomp_stream_get() is called for unless a later hook says otherwise:
 * enum sl_op, set by the agent. */
__u32 zram_get_op = SL_OP_ANY;

/* One hold in 2^timing_shift is timed, chosen at random; all are counted, and
 * every wait is timed. The agent raises it to keep within its CPU budget. */
__u32 timing_shift = 0;

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
  __uint(max_entries, 1); /* CPUs x SL_LATENCIES */
  __type(key, __u32);
  __type(value, struct sl_latency);
} latencies SEC(".maps");

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
  __u32 flags;      /* contention_begin's */
  __u32 cell;       /* of its lock, once `owns` */
  __u32 cpu;        /* where it ended, once `owns` */
  __u8 owner_state; /* enum sl_owner */
  __u8 inversion;
  __u8 waiting;
  __u8 owns; /* it ended in a hold that no hook has shown yet */
  __u32 reserved;
};

enum sl_owner {
  SL_OWNER_NONE = 0,
  SL_OWNER_RUNNING = 1,
  SL_OWNER_RUNNABLE = 2,
  SL_OWNER_BLOCKED = 3,
};

/* How a task that was switched out inside a lock spent its time. */
struct sl_off_time {
  __u64 blocked_ns;
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 migrations;
};

enum sl_active {
  SL_NOT_HELD = 0,
  SL_TIMED = 1,
  SL_COUNTED = 2, /* without times */
};

struct sl_hold {
  struct sl_snapshot acquired;
  __u64 wait_ns;
  __u64 lock;
  __u64 owner_runnable_ns;
  __u32 base; /* cell of SL_OP_ANY of its target */
  __u32 acquire_cpu;
  __u8 active; /* enum sl_active */
  __u8 op;
  __u8 contended;
  __u8 owner_state;
  __u8 inversion;
  __u8 reserved[3];
};

/* An operation that the task is in. */
struct sl_operation {
  __u64 begin_ns; /* 0: none, or its begin was not seen */
  __u64 subject;  /* the folio, entry or bio that it works on */
  __u32 latency;  /* where its latency goes */
  __u32 reserved;
};

/* zswap writes back from within a store, so they nest; a zram command is a
 * write to recompress or writeback in sysfs. */
enum sl_operation_slot {
  SL_IN_STORE = 0,
  SL_IN_LOAD = 1,
  SL_IN_BIO = 2,
  SL_IN_COMMAND = 3,
};
#define SL_OPERATIONS 4

struct sl_task {
  struct sl_hold hold[SL_CLASSES];
  struct sl_operation operation[SL_OPERATIONS];
  struct sl_wait wait;
  /* By kprobe: zcomp_*_get() was entered with this compressor. */
  __u64 getting_comp;
  /* Where the task is in zswap or zram, by the hooks on the outer functions. */
  __u8 in_store;
  __u8 in_decompress;
  __u8 off;                  /* switched out inside a lock */
  __u8 outer_op[SL_CLASSES]; /* SL_OP_RECOMPRESS, SL_OP_WRITEBACK or 0 */
  __u8 getting_dstrm;
  __u8 left; /* switched out since the lock was acquired */
  __u8 reserved;
  /* Off the CPU inside a lock; kept by switch_hook. */
  __u64 nvcsw_seen;
  __u64 off_since_ns;
  __u64 off_run_delay;
  __u64 off_throttled;
  __u64 slept_ns; /* the last voluntary interval, not yet in `time` */
  __u32 off_cpu;
  __u32 off_slept;
  /* Of the present hold once it was switched out, `left`; else of an older. */
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

/* Stores before it are made before those after it, for programs that come
 * between on this CPU. */
SL_INLINE void sl_in_this_order(void) { asm volatile("" ::: "memory"); }

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

/* The owner of a lock that a task waits for, by contention_begin's flags. A
 * semaphore that readers hold names at best one of them: nobody. */
SL_INLINE __u64 sl_lock_owner(__u64 lock, __u32 flags) {
  __u64 owner = 0;
  struct rw_semaphore* semaphore = (struct rw_semaphore*)lock;
  if (flags & LCB_F_MUTEX) return sl_mutex_owner(lock);
  if (bpf_core_read(&owner, sizeof(owner), &semaphore->owner.counter)) return 0;
  return owner & 1 ? 0 : owner & ~7ULL;
}

/* Whether the task owns a lock that it waited for, although the function that
 * takes it has not returned: then it may have been given back since. */
SL_INLINE bool sl_owns(const struct sl_task* task, struct task_struct* t) {
  return task->wait.owns && task->wait.end.ns &&
         sl_lock_owner(task->wait.lock, task->wait.flags) == (__u64)t;
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

/* Whether a duration is among this CPU's SL_TOP longest of the window so far;
 * if so it takes the place of the shortest of them. */
SL_INLINE bool sl_enters_top(struct sl_top* top, __u64 ns) {
  __u32 at = 0;
  if (top->window != window) {
    top->window = window;
    top->least = 0;
    for (int i = 0; i < SL_TOP; i++) top->ns[i] = 0;
  }
  if (ns <= top->least) return false;
  for (__u32 i = 1; i < SL_TOP; i++)
    if (top->ns[i] < top->ns[at & (SL_TOP - 1)]) at = i;
  top->ns[at & (SL_TOP - 1)] = ns;
  __u64 least = top->ns[0];
  for (int i = 1; i < SL_TOP; i++)
    if (top->ns[i] < least) least = top->ns[i];
  top->least = least;
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

#endif /* SWAPLOCK_AGENT_BPF_HOLD_STATE_BPF_H_ */
