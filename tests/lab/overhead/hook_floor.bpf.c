// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test-only: programs that do nothing, or only read the clock, on the functions
 * that the agent hooks. What they cost is what no measurement that uses them
 * can go below. hook_floor_main.cc says which of them are attached.
 */
#include <linux/bpf.h>
/* The kernel's types come first. */
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

__u64 sink = 0; /* so that the clock is read */

SEC("fexit/zcomp_stream_get")
int BPF_PROG(get_nothing) { return 0; }

SEC("fentry/zcomp_stream_put")
int BPF_PROG(put_nothing) { return 0; }

SEC("fentry/zcomp_compress")
int BPF_PROG(compress_nothing) { return 0; }

SEC("fentry/zram_submit_bio")
int BPF_PROG(bio_begin_nothing) { return 0; }

SEC("fexit/zram_submit_bio")
int BPF_PROG(bio_end_nothing) { return 0; }

/* zsmalloc's, which begin and end zswap's holds and which zram calls too; 6.16
 * on. */
SEC("fexit/zs_obj_write")
int BPF_PROG(obj_write_nothing) { return 0; }

SEC("fentry/zs_obj_read_begin")
int BPF_PROG(obj_read_begin_nothing) { return 0; }

SEC("fexit/zs_obj_read_end")
int BPF_PROG(obj_read_end_nothing) { return 0; }

SEC("fexit/zcomp_stream_get")
int BPF_PROG(get_clock) {
  sink = bpf_ktime_get_ns();
  return 0;
}

SEC("fentry/zcomp_stream_put")
int BPF_PROG(put_clock) {
  sink = bpf_ktime_get_ns() - sink;
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_nothing) { return 0; }

char LICENSE[] SEC("license") = "Dual BSD/GPL";
