// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every hook of the agent. agent/capture/hook_rows.cc says which of them go
 * where on the running kernel; the agent loads only those. Function programs
 * have no target here: it is set before loading.
 */
#include "agent/bpf/owner_probe.bpf.h"
#include "agent/bpf/zram_hooks.bpf.h"
#include "agent/bpf/zswap_hooks.bpf.h"

/* --- contention: every wait on a lock of ours, whatever can hook it ------- */

SL_INLINE void sl_spin_begin(__u64 lock, struct sl_lock* known, __u32 flags) {
  struct sl_cpu* cpu = sl_this_cpu();
  if (!cpu) return;
  if (cpu->spin_lock) cpu->loss[SL_LOSS_WAIT_UNSEEN] += 1;
  cpu->spin_cell = known->cell;
  if (known->kind == SL_LOCK_RW_SPIN && (flags & LCB_F_READ))
    cpu->spin_cell = known->cell + SL_ZS_POOL_SHARED - SL_ZS_POOL_EXCLUSIVE;
  cpu->spin_lock = lock;
  cpu->spin_begin_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/contention_begin")
int BPF_PROG(contention_begin, void* lock, unsigned int flags) {
  __u64 address = (__u64)lock;
  struct sl_lock* known = bpf_map_lookup_elem(&locks, &address);
  if ((flags & (LCB_F_SPIN | LCB_F_MUTEX)) == LCB_F_SPIN) {
    if (known) sl_spin_begin(address, known, flags);
    return 0;
  }
  /* Of semaphores only those that are known. */
  if (!(flags & LCB_F_MUTEX) && !known) return 0;
  if (!known && zswap_text[0].end) sl_learn(ctx, address);
  /* A task that is known from an earlier hold, or a lock that is. Nothing is
   * allocated for other mutexes: their waiters may be inside the allocator. */
  struct sl_task* task = known ? sl_task_make() : sl_task_find();
  if (task) sl_wait_begin(&task->wait, address, flags);
  return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(contention_end, void* lock, int ret) {
  __u64 address = (__u64)lock;
  struct sl_cpu* cpu = sl_this_cpu();
  if (cpu && cpu->spin_lock == address) {
    struct sl_cell* cell = sl_cell_at(cpu->spin_cell);
    cpu->spin_lock = 0;
    if (!cell) return 0;
    __u64 ns = bpf_ktime_get_ns() - cpu->spin_begin_ns;
    cell->sequence += 1;
    sl_count_wait(cell, ns, SL_OWNER_NONE, 0, 0);
    cell->sequence += 1;
    return 0;
  }
  struct sl_task* task = sl_task_find();
  if (!task || !task->wait.waiting || task->wait.lock != address) return 0;
  if (ret) { /* gave up on a signal */
    task->wait.waiting = 0;
    return 0;
  }
  sl_wait_end(&task->wait);
  struct sl_lock* known = bpf_map_lookup_elem(&locks, &address);
  if (known && known->kind == SL_LOCK_HELD) sl_wait_gave(task, known->cell);
  if (!known || known->kind != SL_LOCK_OWNED) return 0;
  __u32 index = known->cell;
  if (task->wait.flags & LCB_F_READ)
    index += (SL_LANE_SHARED - SL_LANE_EXCLUSIVE) * SL_OPS;
  struct sl_cell* cell = sl_cell_at(index);
  if (!cell) return 0;
  cell->sequence += 1;
  sl_count_wait(cell, task->wait.end.ns - task->wait.begin_ns,
                task->wait.owner_state, task->wait.inversion,
                task->wait.owner_runnable_ns);
  cell->sequence += 1;
  sl_top_wait(&task->wait, index);
  task->wait.end.ns = 0;
  return 0;
}

/* --- the scheduler -------------------------------------------------------- */

/* With hold hooks: why a holder was off the CPU, and who ran instead. Two loads
 * unless a task inside a lock leaves, or is already off the CPU. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_hook, bool preempt, struct task_struct* prev,
             struct task_struct* next) {
  struct sl_cpu* cpu = sl_this_cpu();
  if (!cpu) return 0;
  if (cpu->off_holder || cpu->holder == (__u64)prev)
    sl_holder_leaves(ctx, cpu, prev);
  if (holders_off) sl_holder_returns(cpu, next);
  return 0;
}

/* Without hold hooks: the owner probe. */
SEC("tp_btf/sched_switch")
int BPF_PROG(owner_switch, bool preempt, struct task_struct* prev,
             struct task_struct* next) {
  if (!owner_rows) return 0;
  sl_owner_leaves(preempt, prev);
  if (off_used) sl_owner_returns(next);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(owner_wakeup, struct task_struct* t) {
  if (off_used) sl_owner_woken(t);
  return 0;
}

/* --- holds in progress, when the agent asks ------------------------------- */

__u64 progress_threshold_ns = 1000000;

SL_INLINE void sl_progress(struct seq_file* seq, struct task_struct* t,
                           struct sl_task* task,
                           const struct sl_snapshot* acquired, __u64 wait_ns,
                           __u64 lock, __u32 cell, __u32 acquire_cpu) {
  struct sl_hold_facts top;
  __u64 now = bpf_ktime_get_ns();
  if (now < acquired->ns) return;
  __u64 ns = now - acquired->ns;
  if (ns < progress_threshold_ns) return;
  __builtin_memset(&top, 0, sizeof(top));
  top.record = SL_RECORD_HOLD;
  top.window = window;
  top.acquired_ns = acquired->ns;
  top.hold_ns = ns;
  /* run_delay grows when the task comes back; what it is waiting for right now
   * is added here. */
  __u64 off = task->off ? now - task->off_since_ns : 0;
  __u64 run_delay = t->sched_info.run_delay - acquired->run_delay;
  __u64 blocked = task->left ? task->time.blocked_ns : 0;
  if (task->off && task->off_slept)
    blocked += off;
  else
    run_delay += off;
  struct sl_parts parts = sl_split(ns, run_delay, t->nvcsw != acquired->nvcsw,
                                   blocked_known, blocked);
  top.on_cpu_ns = parts.on_cpu_ns;
  top.runnable_ns = parts.runnable_ns;
  top.blocked_ns = parts.blocked_ns;
  top.unknown_ns = parts.unknown_ns;
  top.wait_ns = wait_ns;
  top.lock = lock;
  top.cell = cell;
  top.pid = t->pid;
  top.tgid = t->tgid;
  top.static_prio = t->static_prio;
  top.policy = t->policy;
  top.acquire_cpu = acquire_cpu;
  top.release_cpu = task->off ? task->off_cpu : acquire_cpu;
  top.preemptions = (__u32)(t->nivcsw - acquired->nivcsw);
  bpf_probe_read_kernel(top.comm, sizeof(top.comm), t->comm);
  bpf_seq_write(seq, &top, sizeof(top));
}

SL_INLINE void sl_hold_progress(struct seq_file* seq, struct task_struct* t,
                                struct sl_task* task, enum sl_class class) {
  const struct sl_hold* hold = &task->hold[class];
  __u8 outer = task->outer_op[class];
  if (hold->active == SL_TIMED && armed_ns[class] &&
      hold->acquired.ns >= armed_ns[class])
    sl_progress(seq, t, task, &hold->acquired, hold->wait_ns, hold->lock,
                hold->base + (outer ? outer : hold->op), hold->acquire_cpu);
}

SEC("iter/task")
int holds_now(struct bpf_iter__task* ctx) {
  struct seq_file* seq = ctx->meta->seq;
  struct task_struct* t = ctx->task;
  if (!t) return 0;
  struct sl_task* task = bpf_task_storage_get(&tasks, t, 0, 0);
  if (!task) return 0;
  sl_hold_progress(seq, t, task, SL_CLASS_ZSWAP);
  sl_hold_progress(seq, t, task, SL_CLASS_ZRAM);
  /* What it is for, no hook has shown; but its bio did. */
  const struct sl_operation* bio = &task->operation[SL_IN_BIO];
  __u32 op = task->outer_op[SL_CLASS_ZRAM];
  if (!op && bio->begin_ns) op = bio->latency % SL_OPS;
  if (sl_owns(task, t))
    sl_progress(seq, t, task, &task->wait.end,
                task->wait.end.ns - task->wait.begin_ns, task->wait.lock,
                task->wait.cell + op, task->wait.cpu);
  return 0;
}

/* --- what measuring costs: run by the agent, before it attaches ----------- */

__u64 calibration_clock_ns = 0; /* one clock read */
__u64 calibration_cost_ns = 0;  /* an acquisition and a release, and a clock */
__u64 calibration_hold_ns = 0;  /* the hold between them, as it is measured */

/* One hold of a lock that nobody takes, in a cell that means nothing. Without
 * the trampolines of real hooks. */
SEC("raw_tp/swaplock_calibrate")
int calibrate(void* ctx) {
  struct sl_task* task = sl_task_make();
  struct sl_cell* cell = sl_cell_at(cells_per_cpu - 1);
  if (!task || !cell) return 0;
  __u64 before = cell->hold.sum_ns;
  __u64 clock = bpf_ktime_get_ns();
  __u64 begin = bpf_ktime_get_ns();
  sl_acquired(task, SL_CLASS_ZRAM, cells_per_cpu - 1, SL_OP_ANY, 0);
  sl_released(ctx, task, SL_CLASS_ZRAM);
  calibration_cost_ns = bpf_ktime_get_ns() - begin;
  calibration_clock_ns = begin - clock;
  calibration_hold_ns = cell->hold.sum_ns - before;
  return 0;
}

/* --- finding locks: run by the agent, never attached for long ------------- */

/* struct zram addresses, by the device's first sector read. */
#define SL_DISKS 16
struct {
  char name[32];
  __u64 private_data;
} disks[SL_DISKS];
__u32 disks_seen = 0;

SEC("tp_btf/block_bio_queue")
int BPF_PROG(disk_seen, struct bio* bio) {
  struct gendisk* disk = bio->bi_bdev->bd_disk;
  char name[32];
  bpf_probe_read_kernel(name, sizeof(name), disk->disk_name);
  if (name[0] != 'z' || name[1] != 'r' || name[2] != 'a' || name[3] != 'm')
    return 0;
  __u64 private_data = (__u64)disk->private_data;
  for (int i = 0; i < SL_DISKS; i++)
    if (disks[i].private_data == private_data) return 0;
  __u32 at = __sync_fetch_and_add(&disks_seen, 1);
  if (at >= SL_DISKS) return 0;
  __builtin_memcpy(disks[at].name, name, sizeof(name));
  disks[at].private_data = private_data;
  return 0;
}

/* Kernel memory for the agent, which knows the layout from BTF. */
#define SL_PEEK 4096
__u64 peek_address = 0;
__u32 peek_bytes = 0;
__s32 peek_error = 0;
char peek_out[SL_PEEK];

SEC("raw_tp/swaplock_peek")
int peek(void* ctx) {
  __u32 bytes = peek_bytes;
  if (bytes > SL_PEEK) bytes = SL_PEEK;
  peek_error = bpf_probe_read_kernel(peek_out, bytes, (void*)peek_address);
  return 0;
}

/* The function that an address lies in, as the kernel itself prints it: "name"
 * or "name [module]"; in hexadecimal where there is none. */
__u64 name_address = 0;
char name_out[128];

SEC("raw_tp/swaplock_function_name")
int function_name(void* ctx) {
  __u64 address = name_address;
  name_out[0] = 0;
  BPF_SNPRINTF(name_out, sizeof(name_out), "%ps", address);
  return 0;
}

/* __per_cpu_offset[cpu]: where a per-CPU array's element lies for that CPU,
 * less the array's own per-CPU pointer. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} yardstick SEC(".maps");

__u32 offset_cpu = 0;
__u64 offset_out = 0;

SEC("raw_tp/swaplock_cpu_offset")
int cpu_offset(void* ctx) {
  __u32 zero = 0;
  __u32 at = bpf_core_field_offset(struct bpf_array, pptrs);
  offset_out = 0;
  /* Arithmetic on a map's address is refused, so its head is copied first. */
  if (at > 500) return 0;
  if (bpf_probe_read_kernel(peek_out, 512, &yardstick)) return 0;
  void* element = bpf_map_lookup_percpu_elem(&yardstick, &zero, offset_cpu);
  if (!element) return 0;
  /* Through memory, so that the verifier sees a number. */
  *(volatile __u64*)&offset_out = (__u64)element;
  offset_out =
      *(volatile __u64*)&offset_out - *(__u64*)(peek_out + (at & 0x1f8));
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
