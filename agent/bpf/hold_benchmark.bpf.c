// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test-only: what the programs do per hold, in a loop around a lock that is
 * nothing, and beside it what they cannot do without. hold_benchmark_main.cc
 * runs each program with bpf_prog_test_run. The trampoline that calls a program
 * from a kernel function is not in it; tests/lab/overhead measures that.
 */
#include "agent/bpf/hold_time.bpf.h"
#include "agent/bpf/operation_latency.bpf.h"

__u32 loops = 0;
__u64 sink = 0; /* so that nothing is optimised away */

struct run {
  void* ctx;
};

/* A program that does its body `loops` times; bpf_loop() came with 5.17. */
#define BENCHMARK(name)                          \
  static long name##_once(__u32 i, struct run*); \
  SEC("raw_tp/swaplock_benchmark")               \
  int name(void* ctx) {                          \
    struct run run = {ctx};                      \
    bpf_loop(loops, name##_once, &run, 0);       \
    return 0;                                    \
  }                                              \
  static long name##_once(__u32 i, struct run* r)

BENCHMARK(empty) {
  sink = i;
  return 0;
}

/* The floor: a hold has a begin and an end. */
BENCHMARK(two_clocks) {
  sink = bpf_ktime_get_ns();
  sink = bpf_ktime_get_ns() - sink;
  return 0;
}

BENCHMARK(two_task_lookups) {
  if (sl_task_make()) sink += 1;
  if (sl_task_make()) sink += 1;
  return 0;
}

/* The least that tells the holds of one task from those of another. */
BENCHMARK(two_clocks_two_lookups) {
  if (sl_task_make()) sink = bpf_ktime_get_ns();
  if (sl_task_make()) sink = bpf_ktime_get_ns() - sink;
  return 0;
}

/* As klockstat of libbpf-tools 0.26 has it, less its walk of the stack: stamps
 * in a hash by task and lock, sums in a hash. */
struct lock_and_task {
  __u64 task;
  __u64 lock;
};
struct stamps {
  __u64 begin_ns;
  __u64 acquired_ns;
};
struct sums {
  __u64 count, hold_ns, longest_ns;
};
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, struct lock_and_task);
  __type(value, struct stamps);
} stamp_of SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, __u64);
  __type(value, struct sums);
} sums_of SEC(".maps");

BENCHMARK(hash_keyed) {
  struct lock_and_task key = {bpf_get_current_pid_tgid(), 4096};
  struct stamps begin = {bpf_ktime_get_ns(), 0};
  bpf_map_update_elem(&stamp_of, &key, &begin, BPF_ANY);
  struct stamps* stamps = bpf_map_lookup_elem(&stamp_of, &key);
  if (!stamps) return 0;
  stamps->acquired_ns = bpf_ktime_get_ns();

  stamps = bpf_map_lookup_elem(&stamp_of, &key);
  if (!stamps) return 0;
  __u64 ns = bpf_ktime_get_ns() - stamps->acquired_ns;
  struct sums* sums = bpf_map_lookup_elem(&sums_of, &key.lock);
  if (!sums) {
    struct sums none = {};
    bpf_map_update_elem(&sums_of, &key.lock, &none, BPF_NOEXIST);
    sums = bpf_map_lookup_elem(&sums_of, &key.lock);
    if (!sums) return 0;
  }
  __sync_fetch_and_add(&sums->count, 1);
  __sync_fetch_and_add(&sums->hold_ns, ns);
  if (ns > sums->longest_ns) sums->longest_ns = ns;
  bpf_map_delete_elem(&stamp_of, &key);
  return 0;
}

/* What zram_get and zram_put of hold_sampler.bpf.c do for a lock that was free.
 */
BENCHMARK(hold) {
  struct sl_task* task = sl_task_make();
  if (task) sl_acquired(task, SL_CLASS_ZRAM, 0, SL_OP_ANY, 4096);
  task = sl_task_make();
  if (task) sl_released(r->ctx, task, SL_CLASS_ZRAM);
  return 0;
}

/* What zram_bio_begin and zram_bio_end do. */
BENCHMARK(operation) {
  struct sl_task* task = sl_task_make();
  if (task) sl_operation_begin(task, SL_IN_BIO, 4096, SL_OP_STORE);
  task = sl_task_make();
  if (task) sl_operation_end(task, SL_IN_BIO, 4096);
  return 0;
}

BENCHMARK(acquired) {
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  sl_acquired(task, SL_CLASS_ZRAM, 0, SL_OP_ANY, 4096);
  task->hold[SL_CLASS_ZRAM].active = 0;
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
