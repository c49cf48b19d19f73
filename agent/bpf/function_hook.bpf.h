/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Programs on kernel functions, each from one body: NAME by a trampoline
 * (fentry or fexit) and NAME_k by a kprobe or kretprobe.
 * agent/capture/hook_rows.cc says which is loaded, and on what.
 *
 * A body gets the context, for stacks, and one number: the function's first
 * argument on entry, nothing on exit, where kretprobes have none.
 */
#ifndef SWAPLOCK_AGENT_BPF_FUNCTION_HOOK_BPF_H_
#define SWAPLOCK_AGENT_BPF_FUNCTION_HOOK_BPF_H_

#include <bpf/bpf_tracing.h>

#define SL_ON_ENTRY(name, body)                                    \
  SEC("fentry") int name(__u64* ctx) { return body(ctx, ctx[0]); } \
  SEC("kprobe") int name##_k(struct pt_regs* ctx) {                \
    return body(ctx, PT_REGS_PARM1(ctx));                          \
  }

#define SL_ON_EXIT(name, body)                            \
  SEC("fexit") int name(__u64* ctx) { return body(ctx); } \
  SEC("kretprobe") int name##_k(struct pt_regs* ctx) { return body(ctx); }

#endif /* SWAPLOCK_AGENT_BPF_FUNCTION_HOOK_BPF_H_ */
