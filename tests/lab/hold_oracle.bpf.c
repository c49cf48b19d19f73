// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test-only. Measures the off-CPU part of zram's holds in two ways at once: by
 * hooking every context switch, and by the growth of sched_info.run_delay. The
 * product uses only the second; the lab test compares the two.
 */
#include "agent/bpf/kernel_types.bpf.h"
/* The kernel's types come first. */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct hold {
  __u64 active;
  __u64 acquired_ns;
  __u64 run_delay;
  __u64 off_since_ns;
  __u64 off_ns; /* by context switches */
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct hold);
} holds SEC(".maps");

__u64 hold_count = 0;
__u64 hold_ns = 0;
__u64 switch_ns = 0;
__u64 run_delay_ns = 0;
__u64 off_cpu_holds = 0; /* with an off-CPU part by either way */
__u64 longest_ns = 0;
__u64 longest_switch_ns = 0;
__u64 longest_run_delay_ns = 0;

SEC("fexit/zcomp_stream_get")
int BPF_PROG(acquired) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct hold* h =
      bpf_task_storage_get(&holds, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!h) return 0;
  h->off_since_ns = 0;
  h->active = 1;
  for (int i = 0; i < 8; i++) {
    __u64 switches = *(volatile unsigned long*)&t->nivcsw;
    h->off_ns = 0;
    h->run_delay = *(volatile unsigned long long*)&t->sched_info.run_delay;
    h->acquired_ns = bpf_ktime_get_ns();
    if (*(volatile unsigned long*)&t->nivcsw == switches) break;
  }
  return 0;
}

SEC("fentry/zcomp_stream_put")
int BPF_PROG(released) {
  struct task_struct* t = bpf_get_current_task_btf();
  struct hold* h = bpf_task_storage_get(&holds, t, 0, 0);
  if (!h || !h->active) return 0;
  __u64 off_ns = 0, run_delay = 0, ns = 0;
  for (int i = 0; i < 8; i++) {
    __u64 switches = *(volatile unsigned long*)&t->nivcsw;
    off_ns = *(volatile __u64*)&h->off_ns;
    run_delay = *(volatile unsigned long long*)&t->sched_info.run_delay;
    ns = bpf_ktime_get_ns();
    if (*(volatile unsigned long*)&t->nivcsw == switches) break;
  }
  h->active = 0;
  run_delay -= h->run_delay;
  ns -= h->acquired_ns;
  __sync_fetch_and_add(&hold_count, 1);
  __sync_fetch_and_add(&hold_ns, ns);
  __sync_fetch_and_add(&switch_ns, off_ns);
  __sync_fetch_and_add(&run_delay_ns, run_delay);
  if (off_ns || run_delay) __sync_fetch_and_add(&off_cpu_holds, 1);
  if (ns > longest_ns) {
    longest_ns = ns;
    longest_switch_ns = off_ns;
    longest_run_delay_ns = run_delay;
  }
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct* prev,
             struct task_struct* next) {
  struct hold* h = bpf_task_storage_get(&holds, prev, 0, 0);
  if (h && h->active) h->off_since_ns = bpf_ktime_get_ns();
  h = bpf_task_storage_get(&holds, next, 0, 0);
  if (h && h->active && h->off_since_ns) {
    h->off_ns += bpf_ktime_get_ns() - h->off_since_ns;
    h->off_since_ns = 0;
  }
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
