/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The few kernel types that the programs read, field by field; libbpf relocates
 * every access to the running kernel's layout (CO-RE), so order, size and
 * neighbours do not matter here. Field names are checked on 5.15 to 7.3. */
#ifndef SWAPLOCK_AGENT_BPF_KERNEL_TYPES_BPF_H_
#define SWAPLOCK_AGENT_BPF_KERNEL_TYPES_BPF_H_

#define __VMLINUX_SLICE__
/* Makes libbpf take the kernel's own names of registers. */
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

/* include/uapi/linux/bpf.h */
enum {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

/* include/trace/events/lock.h: flags of lock:contention_begin, 5.19 on. */
enum {
  LCB_F_SPIN = 1,
  LCB_F_READ = 2,
  LCB_F_WRITE = 4,
  LCB_F_RT = 8,
  LCB_F_PERCPU = 16,
  LCB_F_MUTEX = 32,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), \
                             apply_to = record)

/* arch/x86/include/asm/ptrace.h and arch/arm64/include/uapi/asm/ptrace.h, for
 * the register macros of libbpf. */
struct pt_regs {
  unsigned long di, si, dx, cx, r8, r9, ax, sp, ip;
};
struct user_pt_regs {
  unsigned long regs[31];
  unsigned long sp, pc;
};

/* cpu.max; an empty struct without CONFIG_CFS_BANDWIDTH. */
struct cfs_bandwidth {
  __u64 throttled_time; /* ns, summed over CPUs (kernel/sched/fair.c) */
};

struct task_group {
  struct task_group* parent;
  struct cfs_bandwidth cfs_bandwidth;
};

struct callback_head;

struct sched_info {
  unsigned long long run_delay;
};

struct task_struct {
  unsigned int __state; /* 5.14 on */
  int on_cpu;           /* int up to 7.1, u8 from 7.2 */
  int prio;
  int static_prio;
  unsigned int policy;
  struct sched_info sched_info;
  int pid;
  int tgid;
  unsigned long nvcsw;
  unsigned long nivcsw;
  struct task_group* sched_task_group;
  /* 6.18 on: cpu.max takes effect on return to user space only. */
  struct {
  } sched_throttle_work;
  char comm[16];
};

/* Before 5.14: `volatile long state`. */
struct task_struct___state {
  long state;
};

typedef struct {
  long long counter;
} atomic64_t;
typedef atomic64_t atomic_long_t;

struct mutex {
  atomic_long_t owner; /* task address; bits 0..2 are flags (mutex.c) */
};

struct rw_semaphore {
  atomic_long_t owner; /* of a writer; bit 0: owned by readers (rwsem.c) */
};

/* mm/zswap.c with separate requests for stores and loads: `decomp` exists, and
 * its request is NULL where loads take no lock. */
struct zswap_acomp_req {
  void* req;
};
struct crypto_acomp_ctx {
  struct zswap_acomp_req decomp;
};
struct zswap_pool {
  struct crypto_acomp_ctx* acomp_ctx; /* per CPU */
};
struct zswap_entry {
  struct zswap_pool* pool;
};

struct gendisk {
  char disk_name[32];
  void* private_data;
};

struct block_device {
  struct gendisk* bd_disk;
};

/* include/linux/blk_types.h */
enum { SL_REQ_OP_READ = 0, SL_REQ_OP_WRITE = 1, SL_REQ_OP_MASK = 255 };

struct bio {
  struct block_device* bi_bdev;
  unsigned int bi_opf;
};

struct seq_file;

struct bpf_iter_meta {
  struct seq_file* seq;
};

struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

struct bpf_array {
  void* pptrs[1];
};

#pragma clang attribute pop

#endif /* SWAPLOCK_AGENT_BPF_KERNEL_TYPES_BPF_H_ */
