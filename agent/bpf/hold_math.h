/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The arithmetic of the BPF programs, compiled for BPF and, for its tests, for
 * the host: bucket indices, distributions, and the parts of a hold. */
#ifndef SWAPLOCK_AGENT_BPF_HOLD_MATH_H_
#define SWAPLOCK_AGENT_BPF_HOLD_MATH_H_

#include "agent/bpf/hold_record.h"

#define SL_INLINE static inline __attribute__((always_inline))

#define SL_1MS 1000000ULL
#define SL_10MS 10000000ULL
#define SL_100MS 100000000ULL

/* floor(log2(value)); value must not be 0. BPF has no such instruction. */
SL_INLINE __u32 sl_log2(__u64 value) {
  __u32 log = 0;
  if (value >> 32) {
    log += 32;
    value >>= 32;
  }
  if (value >> 16) {
    log += 16;
    value >>= 16;
  }
  if (value >> 8) {
    log += 8;
    value >>= 8;
  }
  if (value >> 4) {
    log += 4;
    value >>= 4;
  }
  if (value >> 2) {
    log += 2;
    value >>= 2;
  }
  return log + (__u32)(value >> 1);
}

/* The slot that counts `ns`: bucket index less 63. Bounds are 2^(k/8) as
 * common/histogram.cc has them; the comparison is a tree of three. */
SL_INLINE __u32 sl_slot(__u64 ns) {
  if (ns <= 1ULL << 8) return 0;
  if (ns > 1ULL << 37) return SL_SLOTS - 1;
  __u32 exponent = sl_log2(ns);
  __u64 mantissa = ns << ((63 - exponent) & 63);
  __u32 slot = exponent * 8 - 63;
  if (mantissa == 1ULL << 63) return slot - 1;
  if (mantissa > 0xb504f333f9de6484ULL) {
    slot += 4;
    if (mantissa > 0xd744fccad69d6af4ULL)
      slot += mantissa > 0xeac0c6e7dd24392eULL ? 3 : 2;
    else
      slot += mantissa > 0xc5672a115506daddULL ? 1 : 0;
  } else {
    if (mantissa > 0x9837f0518db8a96fULL)
      slot += mantissa > 0xa5fed6a9b15138eaULL ? 3 : 2;
    else
      slot += mantissa > 0x8b95c1e3ea8bd6e6ULL ? 1 : 0;
  }
  return slot;
}

SL_INLINE void sl_dist_add(struct sl_dist* dist, __u64 ns, __u32 window) {
  __u32 slot = sl_slot(ns);
  if (slot >= SL_SLOTS) return; /* for the verifier; cannot happen */
  dist->slot[slot] += 1;
  dist->sum_ns += ns;
  if (ns > SL_1MS) {
    dist->over_1ms += 1;
    if (ns > SL_10MS) dist->over_10ms += 1;
    if (ns > SL_100MS) dist->over_100ms += 1;
  }
  if (dist->max_window[window & 1] != window) {
    dist->max_window[window & 1] = window;
    dist->max_ns[window & 1] = ns;
  } else if (ns > dist->max_ns[window & 1]) {
    dist->max_ns[window & 1] = ns;
  }
}

struct sl_parts {
  __u64 on_cpu_ns;
  __u64 runnable_ns;
  __u64 blocked_ns;
  __u64 unknown_ns;
};

/* Splits a hold of `hold_ns` into parts that always sum to it.
 *
 * run_delay_ns: growth of the holder's sched_info.run_delay over the hold,
 *   which is exactly the time it was runnable and not running
 *   (kernel/sched/stats.h, sched_info_arrive()).
 * slept: whether nvcsw grew, that is, whether the holder ever gave up the CPU
 *   by itself. If not, it was never blocked.
 * blocked_ns: what the switch hook saw of sleeping; `blocked_known` says
 *   whether that hook was there. Where it was not, the part of a hold that
 *   slept and is not runnable is unknown: on the CPU or asleep.
 */
SL_INLINE struct sl_parts sl_split(__u64 hold_ns, __u64 run_delay_ns, int slept,
                                   int blocked_known, __u64 blocked_ns) {
  struct sl_parts parts = {0, 0, 0, 0};
  __u64 rest = hold_ns;
  parts.runnable_ns = run_delay_ns < rest ? run_delay_ns : rest;
  rest -= parts.runnable_ns;
  if (slept) {
    if (!blocked_known) {
      parts.unknown_ns = rest;
      return parts;
    }
    parts.blocked_ns = blocked_ns < rest ? blocked_ns : rest;
    rest -= parts.blocked_ns;
  }
  parts.on_cpu_ns = rest;
  return parts;
}

#endif /* SWAPLOCK_AGENT_BPF_HOLD_MATH_H_ */
