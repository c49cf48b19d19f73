// Finds the addresses of a zram device's locks in kernel memory: its streams'
// per-CPU locks, and the locks of its zsmalloc pool. The layout comes from BTF
// (kernel_symbols), the bytes from `ReadKernel`, so recorded memory stands in
// for a kernel in tests.
//
// Needs no symbols of data, which many kernels do not export: the struct zram
// is what the block layer hands to BPF when the device is read.
#ifndef SWAPLOCK_AGENT_CAPTURE_LOCK_FINDER_H_
#define SWAPLOCK_AGENT_CAPTURE_LOCK_FINDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/capture/kernel_symbols.h"
#include "common/cell.h"

namespace swaplock {

// Copies `bytes` from a kernel address.
using ReadKernel =
    std::function<absl::Status(uint64_t address, void* out, size_t bytes)>;

// A compressor's lock, one per CPU.
struct StreamLock {
  Role role = Role::kStream;  // kStream, kCompressStream or kDecompressStream
  bool mutex = true;          // else a semaphore, whose owner cannot be told
  uint64_t pointer = 0;       // per CPU: add CpuOffset(cpu)
};

struct ZramCompressor {
  int priority = 0;   // 0: the primary algorithm
  uint64_t comp = 0;  // struct zcomp *
  std::vector<StreamLock> locks;
};

// A zsmalloc pool's.
struct PoolLocks {
  uint64_t pool_lock = 0;             // 0: this kernel's pool has none
  std::vector<uint64_t> class_locks;  // distinct addresses
};

struct ZramLocks {
  std::vector<ZramCompressor> compressors;
  PoolLocks pool;
};

// `zram` is the address of a struct zram whose disk size is set. NotFound when
// the kernel's types do not say where things lie; the message names the member.
absl::StatusOr<ZramLocks> FindZramLocks(const KernelSymbols& symbols,
                                        const ReadKernel& read, uint64_t zram);

// `pool` is the address of a struct zswap_pool. NotFound where it does not
// point to its zsmalloc pool (before 6.18 there were other allocators).
absl::StatusOr<PoolLocks> FindZswapPoolLocks(const KernelSymbols& symbols,
                                             const ReadKernel& read,
                                             uint64_t pool);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_LOCK_FINDER_H_
