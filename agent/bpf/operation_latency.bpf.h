/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Latency of whole operations, from entry to exit of their outermost function.
 * An exit counts only with the entry of the same subject: an entry that was
 * lost leaves no latency, rather than one that reaches back to an older one.
 */
#ifndef SWAPLOCK_AGENT_BPF_OPERATION_LATENCY_BPF_H_
#define SWAPLOCK_AGENT_BPF_OPERATION_LATENCY_BPF_H_

#include "agent/bpf/hold_state.bpf.h"

SL_INLINE enum sl_class sl_class_of(enum sl_operation_slot slot) {
  return slot == SL_IN_STORE || slot == SL_IN_LOAD ? SL_CLASS_ZSWAP
                                                   : SL_CLASS_ZRAM;
}

SL_INLINE void sl_operation_begin(struct sl_task* task,
                                  enum sl_operation_slot slot, __u64 subject,
                                  __u32 latency) {
  struct sl_operation* operation = &task->operation[slot];
  operation->subject = subject;
  operation->latency = latency;
  operation->begin_ns = armed_ns[sl_class_of(slot)] ? bpf_ktime_get_ns() : 0;
}

SL_INLINE void sl_operation_end(struct sl_task* task,
                                enum sl_operation_slot slot, __u64 subject) {
  struct sl_operation* operation = &task->operation[slot];
  __u64 begin_ns = operation->begin_ns;
  __u32 index = operation->latency;
  operation->begin_ns = 0;
  if (!begin_ns || operation->subject != subject || index >= SL_LATENCIES)
    return;
  index += bpf_get_smp_processor_id() * SL_LATENCIES;
  struct sl_latency* latency = bpf_map_lookup_elem(&latencies, &index);
  if (!latency) return;
  __u64 ns = bpf_ktime_get_ns() - begin_ns;
  latency->sequence += 1;
  sl_dist_add(&latency->operations, ns, window);
  latency->sequence += 1;
}

#endif /* SWAPLOCK_AGENT_BPF_OPERATION_LATENCY_BPF_H_ */
