/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* zswap's hooks. Its lock and unlock are inlined, so the first and the last
 * function called inside the lock stand for them (mm/zswap.c, zswap_compress()
 * and zswap_decompress()).
 */
#ifndef SWAPLOCK_AGENT_BPF_ZSWAP_HOOKS_BPF_H_
#define SWAPLOCK_AGENT_BPF_ZSWAP_HOOKS_BPF_H_

#include "agent/bpf/function_hook.bpf.h"
#include "agent/bpf/hold_time.bpf.h"
#include "agent/bpf/operation_latency.bpf.h"

/* --- stores --------------------------------------------------------------- */

SL_INLINE int sl_zswap_store(void* ctx, __u64 folio) {
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  task->in_store = 1;
  task->wait.end.ns = 0;
  sl_operation_begin(task, SL_IN_STORE, folio, SL_LATENCY_ZSWAP + SL_OP_STORE);
  return 0;
}

/* A store that failed inside the lock never came to zswap_release_store. */
SL_INLINE struct sl_task* sl_zswap_store_ends(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (!task) return 0;
  if (task->hold[SL_CLASS_ZSWAP].active) sl_released(ctx, task, SL_CLASS_ZSWAP);
  task->in_store = 0;
  return task;
}

SL_ON_ENTRY(zswap_store_begin, sl_zswap_store)
SEC("fexit")
int zswap_store_end(__u64* ctx) {
  struct sl_task* task = sl_zswap_store_ends(ctx);
  if (task) sl_operation_end(task, SL_IN_STORE, ctx[0]);
  return 0;
}
/* A kretprobe may be missed when many tasks are inside, so it measures nothing.
 */
SEC("kretprobe")
int zswap_store_end_k(struct pt_regs* ctx) {
  sl_zswap_store_ends(ctx);
  return 0;
}

SL_INLINE int sl_zswap_acquire_store(void* ctx, __u64 unused) {
  struct sl_task* task = sl_task_find();
  if (task && task->in_store && !task->in_decompress)
    sl_acquired(task, SL_CLASS_ZSWAP, SL_BASE_ZSWAP, SL_OP_STORE, 0);
  return 0;
}

SL_ON_ENTRY(zswap_acquire_store, sl_zswap_acquire_store)

/* struct zswap_pool addresses, of the entries that are loaded, while the agent
 * wants to know: it finds the locks of their zsmalloc pools. */
#define SL_ZSWAP_POOLS 4
__u32 zswap_pools_wanted = 0;
__u64 zswap_pools[SL_ZSWAP_POOLS];

SL_INLINE void sl_zswap_see_pool(__u64 entry) {
  __u64 pool = (__u64)BPF_CORE_READ((struct zswap_entry*)entry, pool);
  if (!pool) return;
  for (int i = 0; i < SL_ZSWAP_POOLS; i++) {
    if (zswap_pools[i] == pool) return;
    /* Two CPUs may both take the same slot, then one pool is seen later. */
    if (!zswap_pools[i]) {
      zswap_pools[i] = pool;
      return;
    }
  }
}

/* --- loads and writeback ----------------------------------------------------
 */

/* Whether a load of this entry takes no lock: its pool's requests are separate,
 * and the one for loads does not exist (it lies on the stack). All CPUs are
 * alike, so CPU 0's tells. */
SL_INLINE bool sl_zswap_lock_free(__u64 entry) {
  if (!bpf_core_field_exists(((struct crypto_acomp_ctx*)0)->decomp) ||
      !cpu0_offset)
    return false;
  struct zswap_pool* pool = BPF_CORE_READ((struct zswap_entry*)entry, pool);
  __u64 ctx = (__u64)BPF_CORE_READ(pool, acomp_ctx);
  void* request = (void*)1;
  struct crypto_acomp_ctx* first = (void*)(ctx + cpu0_offset);
  if (!ctx || bpf_core_read(&request, sizeof(request), &first->decomp.req))
    return false;
  return !request;
}

SL_INLINE int sl_zswap_decompress(__u64 entry, __u8 op) {
  struct sl_task* task = sl_task_make();
  if (!task) return 0;
  bool lock_free = sl_zswap_lock_free(entry);
  __u8 outer = task->outer_op[SL_CLASS_ZSWAP];
  if (zswap_pools_wanted) sl_zswap_see_pool(entry);
  task->in_decompress = lock_free ? 0 : op;
  task->wait.end.ns = 0;
  sl_operation_begin(
      task, SL_IN_LOAD, entry,
      (lock_free ? SL_LATENCY_ZSWAP_LOCK_FREE : SL_LATENCY_ZSWAP) +
          (outer ? outer : op));
  return 0;
}

SL_INLINE struct sl_task* sl_zswap_decompress_ends(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (!task) return 0;
  task->in_decompress = 0;
  /* A load that failed inside the lock. A store's hold cannot be open here. */
  if (task->hold[SL_CLASS_ZSWAP].active) sl_released(ctx, task, SL_CLASS_ZSWAP);
  return task;
}

SL_INLINE int sl_zswap_load(void* ctx, __u64 entry) {
  return sl_zswap_decompress(entry, SL_OP_LOAD);
}

/* 5.11 to 6.7, where writeback does not call the function that loads do. */
SL_INLINE int sl_zswap_write_back(void* ctx, __u64 entry) {
  return sl_zswap_decompress(entry, SL_OP_WRITEBACK);
}

SL_ON_ENTRY(zswap_load_begin, sl_zswap_load)
SL_ON_ENTRY(zswap_writeback_begin, sl_zswap_write_back)

SL_INLINE int sl_zswap_load_end(__u64* ctx) {
  struct sl_task* task = sl_zswap_decompress_ends(ctx);
  if (task) sl_operation_end(task, SL_IN_LOAD, ctx[0]);
  return 0;
}

SEC("fexit")
int zswap_load_end(__u64* ctx) { return sl_zswap_load_end(ctx); }
SEC("fexit")
int zswap_writeback_end(__u64* ctx) { return sl_zswap_load_end(ctx); }
SEC("kretprobe")
int zswap_load_end_k(struct pt_regs* ctx) {
  sl_zswap_decompress_ends(ctx);
  return 0;
}
SEC("kretprobe")
int zswap_writeback_end_k(struct pt_regs* ctx) {
  sl_zswap_decompress_ends(ctx);
  return 0;
}

SL_INLINE int sl_zswap_acquire_load(void* ctx, __u64 unused) {
  struct sl_task* task = sl_task_find();
  if (task && task->in_decompress && !task->hold[SL_CLASS_ZSWAP].active)
    sl_acquired(task, SL_CLASS_ZSWAP, SL_BASE_ZSWAP, task->in_decompress, 0);
  return 0;
}

SL_ON_ENTRY(zswap_acquire_load, sl_zswap_acquire_load)

/* shrink_memcg_cb(): what it decompresses is written back. */
SL_INLINE int sl_zswap_shrink(void* ctx, __u64 unused) {
  struct sl_task* task = sl_task_make();
  if (task) task->outer_op[SL_CLASS_ZSWAP] = SL_OP_WRITEBACK;
  return 0;
}

SL_INLINE int sl_zswap_shrink_ends(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (task) task->outer_op[SL_CLASS_ZSWAP] = SL_OP_ANY;
  return 0;
}

SL_ON_ENTRY(zswap_shrink_begin, sl_zswap_shrink)
SL_ON_EXIT(zswap_shrink_end, sl_zswap_shrink_ends)

/* --- the last function inside the lock; some serve zram or other callers too
 */

SL_INLINE int sl_zswap_release(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (!task || !task->hold[SL_CLASS_ZSWAP].active) return 0;
  sl_released(ctx, task, SL_CLASS_ZSWAP);
  return 0;
}

/* The load is over even if its end is not seen. */
SL_INLINE int sl_zswap_release_load(void* ctx) {
  struct sl_task* task = sl_task_find();
  if (!task || !task->hold[SL_CLASS_ZSWAP].active) return 0;
  sl_released(ctx, task, SL_CLASS_ZSWAP);
  task->in_decompress = 0;
  return 0;
}

SL_ON_EXIT(zswap_release_store, sl_zswap_release)
SL_ON_EXIT(zswap_release_load, sl_zswap_release_load)

#endif /* SWAPLOCK_AGENT_BPF_ZSWAP_HOOKS_BPF_H_ */
