/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* zram's hooks. The stream's functions are called with and return the lock; in
 * kernels with split streams those that compress and those that decompress have
 * locks of their own (drivers/block/zram/zcomp.c).
 */
#ifndef SWAPLOCK_AGENT_BPF_ZRAM_HOOKS_BPF_H_
#define SWAPLOCK_AGENT_BPF_ZRAM_HOOKS_BPF_H_

#include "agent/bpf/function_hook.bpf.h"
#include "agent/bpf/hold_time.bpf.h"
#include "agent/bpf/operation_latency.bpf.h"

SL_INLINE __u32 sl_comp_base(__u64 comp) {
  for (int i = 0; i < SL_COMPS; i++)
    if (comps[i].comp == comp) return comps[i].base;
  return SL_BASE_ZRAM_OTHER;
}

/* The lane of a reading stream that the current task has just got. */
SL_INLINE enum sl_lane sl_reading_lane(__u64 dstrm) {
  if (zram_shared_by == SL_SHARED_BY_FLAG) {
    __u8 alone = 1;
    bpf_probe_read_kernel(&alone, 1, (void*)(dstrm + zram_shared_offset));
    return alone ? SL_LANE_EXCLUSIVE : SL_LANE_SHARED;
  }
  if (zram_shared_by == SL_SHARED_BY_EXCL_LOCK)
    return sl_mutex_owner(dstrm + zram_shared_offset) ==
                   (__u64)bpf_get_current_task_btf()
               ? SL_LANE_EXCLUSIVE
               : SL_LANE_SHARED;
  return SL_LANE_EXCLUSIVE;
}

SL_INLINE void sl_zram_got(struct sl_task* task, __u64 comp, __u64 stream,
                           bool reading, __u8 op) {
  __u32 base = sl_comp_base(comp);
  __u64 lock = stream;
  if (reading) {
    base += sl_reading_lane(stream) * SL_OPS;
    lock += zram_dstrm_lock_offset;
  } else {
    lock += zram_lock_offset;
  }
  sl_acquired(task, SL_CLASS_ZRAM, base, op, lock);
}

/* zcomp_stream_get(comp), and zcomp_cstrm_get(comp) of split streams, return
 * the stream, its lock taken. */
SEC("fexit")
int zram_get(__u64* ctx) {
  struct sl_task* task = sl_task_make();
  if (task) sl_zram_got(task, ctx[0], ctx[1], false, zram_get_op);
  return 0;
}

/* zcomp_dstrm_get(comp) or (comp, mode). */
SEC("fexit")
int zram_read_get(__u64* ctx) {
  struct sl_task* task = sl_task_make();
  __u64 stream = zram_dget_parameters == 2 ? ctx[2] : ctx[1];
  if (task) sl_zram_got(task, ctx[0], stream, true, SL_OP_LOAD);
  return 0;
}

/* By kprobe: a kretprobe on a function that sleeps would lose the waiters that
 * matter when many wait (the kernel keeps only so many return addresses). So
 * the entry says which compressor, and the work that follows that it was got.
 */
SL_INLINE int sl_zram_getting(__u64 comp, bool reading) {
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  task->getting_comp = comp;
  task->getting_dstrm = reading;
  return 0;
}

SEC("kprobe")
int zram_get_k(struct pt_regs* ctx) {
  return sl_zram_getting(PT_REGS_PARM1(ctx), false);
}

SEC("kprobe")
int zram_read_get_k(struct pt_regs* ctx) {
  return sl_zram_getting(PT_REGS_PARM1(ctx), true);
}

SL_INLINE int sl_zram_put(void* ctx, __u64 unused) {
  struct sl_task* task = sl_task_find();
  if (task)
    sl_released(ctx, task, SL_CLASS_ZRAM);
  else if (armed_ns[SL_CLASS_ZRAM])
    sl_lose(SL_LOSS_ACQUIRE_UNSEEN);
  return 0;
}

SL_ON_ENTRY(zram_put, sl_zram_put)
SL_ON_ENTRY(zram_read_put, sl_zram_put)

/* zcomp_compress() tells writes from reads where one stream serves both;
 * zcomp_decompress() need not then. By kprobe both tell that it was got. */
SL_INLINE int sl_zram_work(__u64 stream, __u8 op) {
  struct sl_task* task = sl_task_find();
  if (!task) return 0;
  if (task->getting_comp) {
    sl_zram_got(task, task->getting_comp, stream, task->getting_dstrm, op);
    task->getting_comp = 0;
  }
  task->hold[SL_CLASS_ZRAM].op = op;
  return 0;
}

/* Where the first argument is the stream, the second must not even be read:
 * it is a const void *, which the verifier of 6.1 refuses. */
SL_INLINE __u64 sl_stream_of(__u64* ctx) {
  __u64 stream;
  if (zram_stream_argument == 0) return ctx[0];
  /* As written, or the compiler chooses between two addresses, and then the
   * verifier does not know which of the context's values is read. */
  asm volatile("%0 = *(u64*)(%1 + 8)" : "=r"(stream) : "r"(ctx));
  return stream;
}

SL_INLINE __u64 sl_stream_of_registers(struct pt_regs* ctx) {
  __u64 first = PT_REGS_PARM1(ctx);
  __u64 second = PT_REGS_PARM2(ctx);
  asm volatile("" : "+r"(first), "+r"(second));
  return zram_stream_argument == 0 ? first : second;
}

SEC("fentry")
int zram_compress(__u64* ctx) {
  return sl_zram_work(sl_stream_of(ctx), SL_OP_STORE);
}
SEC("kprobe")
int zram_compress_k(struct pt_regs* ctx) {
  return sl_zram_work(sl_stream_of_registers(ctx), SL_OP_STORE);
}
SEC("fentry")
int zram_decompress(__u64* ctx) {
  return sl_zram_work(sl_stream_of(ctx), SL_OP_LOAD);
}
SEC("kprobe")
int zram_decompress_k(struct pt_regs* ctx) {
  return sl_zram_work(sl_stream_of_registers(ctx), SL_OP_LOAD);
}

/* recompress_store() and writeback_store(): sysfs files of a zram device. Which
 * device is not looked at: commands are rare, and count as nobody's. */
SL_INLINE int sl_zram_command(__u8 op) {
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  task->outer_op[SL_CLASS_ZRAM] = op;
  sl_operation_begin(task, SL_IN_COMMAND, 0, SL_LATENCY_ZRAM_OTHER + op);
  return 0;
}

SL_INLINE int sl_zram_recompress(void* ctx, __u64 unused) {
  return sl_zram_command(SL_OP_RECOMPRESS);
}

SL_INLINE int sl_zram_writeback(void* ctx, __u64 unused) {
  return sl_zram_command(SL_OP_WRITEBACK);
}

SL_INLINE int sl_zram_command_ends(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (!task) return 0;
  task->outer_op[SL_CLASS_ZRAM] = SL_OP_ANY;
  sl_operation_end(task, SL_IN_COMMAND, 0);
  return 0;
}

SL_ON_ENTRY(zram_recompress_begin, sl_zram_recompress)
SL_ON_EXIT(zram_recompress_end, sl_zram_command_ends)
SL_ON_ENTRY(zram_writeback_begin, sl_zram_writeback)
SL_ON_EXIT(zram_writeback_end, sl_zram_command_ends)

/* zram_submit_bio(bio): a read or write as its caller sees it. */
SEC("fentry")
int BPF_PROG(zram_bio_begin, struct bio* bio) {
  __u32 base = SL_LATENCY_ZRAM_OTHER;
  __u32 op = bio->bi_opf & SL_REQ_OP_MASK;
  if (op > SL_REQ_OP_WRITE) return 0;
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  __u64 zram = (__u64)bio->bi_bdev->bd_disk->private_data;
  for (int i = 0; i < SL_ZRAM_DEVICES; i++)
    if (zram_devices[i].zram == zram) base = zram_devices[i].base;
  sl_operation_begin(task, SL_IN_BIO, (__u64)bio,
                     base + (op == SL_REQ_OP_WRITE ? SL_OP_STORE : SL_OP_LOAD));
  return 0;
}

SEC("fexit")
int zram_bio_end(__u64* ctx) {
  struct sl_task* task = sl_task_find();
  if (task) sl_operation_end(task, SL_IN_BIO, ctx[0]);
  return 0;
}

#endif /* SWAPLOCK_AGENT_BPF_ZRAM_HOOKS_BPF_H_ */
