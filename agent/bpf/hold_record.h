/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the BPF programs and the agent share: plain C, fixed width, no pointers.
 *
 * Cells are cumulative since the programs were loaded; the agent reads them
 * through a memory map and takes differences. Histogram slots and exceedances
 * are 32 bits wide and wrap; a difference over one window is right as long as
 * fewer than 2^32 events fall into it (at 10^7 holds/s: 429 s).
 */
#ifndef SWAPLOCK_AGENT_BPF_HOLD_RECORD_H_
#define SWAPLOCK_AGENT_BPF_HOLD_RECORD_H_

#ifndef __VMLINUX_SLICE__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define SL_STATIC_ASSERT static_assert
#else
#define SL_STATIC_ASSERT _Static_assert
#endif

/* Slot 0 is the underflow bucket (index 63, up to 2^8 ns), slot 233 the
 * overflow (above 2^37 ns): common/histogram.h. */
#define SL_SLOTS 234

struct sl_dist {
  __u32 slot[SL_SLOTS];
  __u32 over_1ms;
  __u32 over_10ms;
  __u32 over_100ms;
  /* One maximum for even windows, one for odd ones: the agent reads a window's
   * after the next has begun. max_window says which window it belongs to. */
  __u32 max_window[2];
  __u32 reserved;
  __u64 sum_ns;
  __u64 max_ns[2];
};
SL_STATIC_ASSERT(sizeof(struct sl_dist) == 984, "struct sl_dist");

/* Acquisitions: the holds' count and `untimed`. Contended ones: the waits'. */
struct sl_cell {
  /* Odd while a program is writing; readers read again when it moved. */
  __u32 sequence;
  __u32 reserved;
  __u64 on_cpu_ns;
  __u64 unknown_ns;
  __u64 waits_owner_running;
  __u64 waits_owner_runnable;
  __u64 waits_owner_blocked;
  __u64 wait_owner_runnable_ns;
  __u64 inversions;
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 migrations;
  __u64 untimed; /* holds that were counted only: timing_shift */
  struct sl_dist wait;
  struct sl_dist hold;
  struct sl_dist runnable;
  struct sl_dist blocked;
};
SL_STATIC_ASSERT(sizeof(struct sl_cell) == 104 + 4 * 984, "struct sl_cell");

/* Hooks that are attached together, on locks of which no task holds two: zram
 * writes from inside zram go through the block layer's queue, zswap never
 * reclaims under its lock. */
enum sl_class { SL_CLASS_ZSWAP = 0, SL_CLASS_ZRAM = 1 };
#define SL_CLASSES 2

/* Offsets of a target's cells from its base: one per operation. */
enum sl_op {
  SL_OP_ANY = 0,
  SL_OP_LOAD = 1,  /* zswap load, zram read */
  SL_OP_STORE = 2, /* zswap store, zram write */
  SL_OP_RECOMPRESS = 3,
  SL_OP_WRITEBACK = 4,
};
#define SL_OPS 5

/* A zram compressor's cells: SL_OPS for each of these. A kernel with one stream
 * for both directions has the first only. */
enum sl_lane {
  SL_LANE_STREAM = 0,    /* the one stream, or that of writes */
  SL_LANE_EXCLUSIVE = 1, /* that of reads, held alone */
  SL_LANE_SHARED = 2,    /* that of reads, held by several */
};
#define SL_LANES 3

/* How the holder of a reading stream is told to be alone. */
enum sl_shared_by {
  SL_SHARED_NEVER = 0,        /* a mutex: always alone */
  SL_SHARED_BY_FLAG = 1,      /* unless zcomp_dstrm.excl_locked */
  SL_SHARED_BY_EXCL_LOCK = 2, /* unless zcomp_dstrm.excl_lock is its own */
};

/* A zsmalloc pool's cells: its size classes' locks and its own lock. */
enum sl_zsmalloc {
  SL_ZS_CLASS = 0,
  SL_ZS_POOL_SHARED = 1,
  SL_ZS_POOL_EXCLUSIVE = 2,
};
#define SL_ZS_CELLS 3

/* Fixed cells; those of zram devices and their pools follow. With split streams
 * the second group has SL_OPS for each lane. */
#define SL_BASE_ZSWAP 0
#define SL_BASE_ZRAM_OTHER SL_OPS /* streams of devices not known (yet) */

/* Latency of whole operations. Fixed groups of SL_OPS; devices follow. */
#define SL_LATENCY_ZSWAP 0
#define SL_LATENCY_ZSWAP_LOCK_FREE SL_OPS
#define SL_LATENCY_ZRAM_OTHER (2 * SL_OPS)
#define SL_LATENCY_DEVICES (3 * SL_OPS)
#define SL_ZRAM_DEVICES 4
#define SL_LATENCIES (SL_LATENCY_DEVICES + SL_ZRAM_DEVICES * SL_OPS)

struct sl_latency {
  __u32 sequence; /* as in sl_cell */
  __u32 reserved;
  struct sl_dist operations;
};
SL_STATIC_ASSERT(sizeof(struct sl_latency) == 8 + 984, "struct sl_latency");

/* A zram device and where the latency of its operations goes. */
struct sl_zram_device {
  __u64 zram; /* struct zram *, or 0 */
  __u32 base;
  __u32 reserved;
};

enum sl_loss {
  SL_LOSS_NONE = 0,
  SL_LOSS_RECURSION = 1,
  SL_LOSS_RELEASE_UNSEEN = 2,
  SL_LOSS_ACQUIRE_UNSEEN = 3,
  SL_LOSS_NO_TASK_STORAGE = 4,
  SL_LOSS_TOP_RING_FULL = 5,
  SL_LOSS_NESTED = 6,
  SL_LOSS_UNSTABLE_SNAPSHOT = 7,
  SL_LOSS_UNKNOWN_LOCK = 8,
  SL_LOSS_OWNER_SLOTS_FULL = 9,
  SL_LOSS_WAIT_UNSEEN = 10,
};
#define SL_LOSSES 11

/* Longest holds, and longest waits, that leave the kernel per CPU and window.
 */
#define SL_TOP 16

/* Durations already reported in `window`. */
struct sl_top {
  __u32 window;
  __u32 reserved;
  __u64 least; /* of ns: what is not above it does not enter */
  __u64 ns[SL_TOP];
};

/* A task that ran while a holder waited for its CPU. */
struct sl_actor {
  __u64 ns;
  __u32 pid; /* 0: unused */
  __s32 static_prio;
  __u32 policy;
  __u32 reserved;
  char comm[16];
};
SL_STATIC_ASSERT(sizeof(struct sl_actor) == 40, "struct sl_actor");

#define SL_RAN 4

/* Per-CPU state, and losses. Written by this CPU's programs, and `ran` read by
 * the CPU that the holder comes back on. */
struct sl_cpu {
  __u64 holder;    /* task on this CPU that is inside a lock, or 0 */
  __u64 spin_lock; /* spinning for this lock of ours, or 0 */
  __u64 spin_begin_ns;
  __u32 spin_cell;
  __u32 reserved;
  __u64 off_holder; /* task inside a lock that waits for this CPU, or 0 */
  __u64 runner_since_ns;
  struct sl_actor ran[SL_RAN]; /* instead of off_holder */
  struct sl_top top_holds;
  struct sl_top top_waits;
  __u64 loss[SL_LOSSES];
};
SL_STATIC_ASSERT(sizeof(struct sl_cpu) == 584, "struct sl_cpu");

/* How waits on a known lock are accounted. */
enum sl_lock_kind {
  SL_LOCK_SPIN = 0,    /* spinlock: at contention_end */
  SL_LOCK_RW_SPIN = 1, /* rwlock: the same, cell + mode */
  SL_LOCK_HELD = 2,    /* mutex with hold hooks: with the hold it leads to */
  SL_LOCK_OWNED = 3,   /* mutex seen by tracepoints only: at contention_end */
};

struct sl_lock {
  __u32 cell; /* the target's base, or the very cell for spin locks */
  __u32 kind;
};

/* Locks that the owner probe compares on one CPU. */
#define SL_ROW_LOCKS 8
struct sl_row {
  __u64 lock[SL_ROW_LOCKS]; /* kernel address of a struct mutex, or 0 */
  __u32 cell[SL_ROW_LOCKS];
};

/* An owner that the owner probe follows; only programs touch it. */
#define SL_OFF 64

struct sl_off {
  __u64 task; /* 0: free */
  __u64 lock;
  __u64 since_ns; /* 0 while the task runs */
  __u64 woken_ns; /* when a sleeping owner became runnable, or 0 */
  __u64 pid;
  __u32 cell;
  __u32 slept; /* this interval began voluntarily */
};

/* A zram compressor and where its holds go. */
#define SL_COMPS 8
struct sl_comp {
  __u64 comp; /* struct zcomp *, or 0 */
  __u32 base;
  __u32 reserved;
};

/* What comes through the ring buffer, by its first member. */
enum sl_record {
  SL_RECORD_HOLD = 1,
  SL_RECORD_WAIT = 2,
};

#define SL_STACK 12 /* kernel addresses, innermost first; 0 ends */

/* A hold, or of one in progress what is known so far (by the task iterator). */
struct sl_hold_facts {
  __u32 record; /* SL_RECORD_HOLD */
  __u32 window;
  __u64 acquired_ns; /* CLOCK_MONOTONIC */
  __u64 hold_ns;
  __u64 on_cpu_ns;
  __u64 runnable_ns;
  __u64 blocked_ns;
  __u64 unknown_ns;
  __u64 preempted_ns;
  __u64 woken_ns;
  __u64 throttled_ns;
  __u64 wait_ns;
  __u64 lock; /* address, or 0 where no hook shows it */
  __u64 cgroup;
  __u32 cell;
  __u32 pid;
  __u32 tgid;
  __s32 static_prio; /* 120 + nice for the fair classes */
  __u32 policy;
  __u32 acquire_cpu;
  __u32 release_cpu;
  __u32 preemptions;
  __u32 migrations;
  __u32 reserved;
  char comm[16];
};
SL_STATIC_ASSERT(sizeof(struct sl_hold_facts) == 160, "struct sl_hold_facts");

/* One long hold. */
struct sl_top_hold {
  struct sl_hold_facts facts;
  struct sl_actor ran[SL_RAN];
  __u64 release_stack[SL_STACK];
  __u64 switch_stack[SL_STACK];
};
SL_STATIC_ASSERT(sizeof(struct sl_top_hold) == 512, "struct sl_top_hold");

/* One long wait, to be matched with the hold it was for. */
struct sl_top_wait {
  __u32 record; /* SL_RECORD_WAIT */
  __u32 window;
  __u64 begin_ns; /* CLOCK_MONOTONIC */
  __u64 wait_ns;
  __u64 lock;
  __u32 cell;
  __u32 owner_pid; /* of the owner when the wait began; 0: none was seen */
  __u32 pid;
  __s32 static_prio;
  __u32 policy;
  __u32 inversion;
  char comm[16];
};
SL_STATIC_ASSERT(sizeof(struct sl_top_wait) == 72, "struct sl_top_wait");

#endif /* SWAPLOCK_AGENT_BPF_HOLD_RECORD_H_ */
