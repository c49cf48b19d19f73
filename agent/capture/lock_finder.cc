#include "agent/capture/lock_finder.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

// Elements of "struct zcomp *[4]"; 1 when it is no array; 0 when unreadable.
size_t Elements(absl::string_view type) {
  const size_t open = type.rfind('[');
  if (open == absl::string_view::npos) return 1;
  size_t n = 0;
  if (!absl::SimpleAtoi(type.substr(open + 1, type.size() - open - 2), &n)) {
    return 0;
  }
  return n;
}

// Kernel addresses have their top bit set on every architecture we know.
bool IsKernelAddress(uint64_t address) { return address >> 63 == 1; }

// Of the struct zs_pool that the pointer at `at` points to; none if to nothing.
absl::StatusOr<PoolLocks> FindPoolLocks(const KernelSymbols& symbols,
                                        const ReadKernel& read, uint64_t at) {
  PoolLocks out;
  const KernelMember* classes = symbols.Member("zs_pool.size_class");
  const KernelMember* class_lock = symbols.Member("size_class.lock");
  const KernelMember* pool_lock = symbols.Member("zs_pool.lock");
  if (pool_lock == nullptr) pool_lock = symbols.Member("zs_pool.migrate_lock");
  uint64_t pool = 0;
  absl::Status status = read(at, &pool, sizeof(pool));
  if (!status.ok()) return status;
  if (!IsKernelAddress(pool)) return out;
  if (pool_lock != nullptr) out.pool_lock = pool + pool_lock->offset_bytes;
  if (classes == nullptr || class_lock == nullptr) return out;
  std::vector<uint64_t> pointers(
      std::min<size_t>(Elements(classes->type), 512));
  status = read(pool + classes->offset_bytes, pointers.data(),
                pointers.size() * sizeof(uint64_t));
  if (!status.ok()) return status;
  for (const uint64_t pointer : pointers) {
    if (IsKernelAddress(pointer)) {
      out.class_locks.push_back(pointer + class_lock->offset_bytes);
    }
  }
  // Classes of like geometry share one struct.
  std::sort(out.class_locks.begin(), out.class_locks.end());
  out.class_locks.erase(
      std::unique(out.class_locks.begin(), out.class_locks.end()),
      out.class_locks.end());
  return out;
}

}  // namespace

absl::StatusOr<ZramLocks> FindZramLocks(const KernelSymbols& symbols,
                                        const ReadKernel& read, uint64_t zram) {
  ZramLocks out;
  const KernelMember* comps = symbols.Member("zram.comps");
  if (comps == nullptr) comps = symbols.Member("zram.comp");  // up to 6.1
  // Where struct zcomp points to its streams, and where their locks lie.
  struct Streams {
    Role role;
    const KernelMember* pointer;
    const KernelMember* lock;
  };
  std::vector<Streams> all;
  for (const auto& [role, pointer, lock] :
       {std::tuple{Role::kStream, "zcomp.stream", "zcomp_strm.lock"},
        std::tuple{Role::kCompressStream, "zcomp.cstream", "zcomp_cstrm.lock"},
        std::tuple{Role::kDecompressStream, "zcomp.dstream",
                   "zcomp_dstrm.lock"},
        std::tuple{Role::kDecompressStream, "zcomp.dstream",
                   "zcomp_dstrm.excl_lock"}}) {
    const Streams s = {role, symbols.Member(pointer), symbols.Member(lock)};
    if (s.pointer != nullptr && s.lock != nullptr) all.push_back(s);
  }
  if (comps == nullptr || all.empty()) {
    return absl::NotFoundError(
        "the kernel's types lack zram.comps, or zcomp.stream and the locks of "
        "streams");
  }
  const size_t count = std::min<size_t>(Elements(comps->type), 8);
  for (size_t i = 0; i < count; ++i) {
    ZramCompressor c;
    c.priority = static_cast<int>(i);
    absl::Status status =
        read(zram + comps->offset_bytes + 8 * i, &c.comp, sizeof(c.comp));
    if (!status.ok()) return status;
    if (!IsKernelAddress(c.comp)) continue;
    for (const Streams& s : all) {
      uint64_t streams = 0;  // a per-CPU pointer: small on some architectures
      status =
          read(c.comp + s.pointer->offset_bytes, &streams, sizeof(streams));
      if (!status.ok()) return status;
      c.locks.push_back({s.role, s.lock->type == "struct mutex",
                         streams + s.lock->offset_bytes});
    }
    out.compressors.push_back(c);
  }

  const KernelMember* pool_member = symbols.Member("zram.mem_pool");
  if (pool_member == nullptr) return out;
  absl::StatusOr<PoolLocks> pool =
      FindPoolLocks(symbols, read, zram + pool_member->offset_bytes);
  if (!pool.ok()) return pool.status();
  out.pool = *std::move(pool);
  return out;
}

absl::StatusOr<PoolLocks> FindZswapPoolLocks(const KernelSymbols& symbols,
                                             const ReadKernel& read,
                                             uint64_t pool) {
  const KernelMember* zs_pool = symbols.Member("zswap_pool.zs_pool");
  if (zs_pool == nullptr) {
    return absl::NotFoundError("the kernel's types lack zswap_pool.zs_pool");
  }
  return FindPoolLocks(symbols, read, pool + zs_pool->offset_bytes);
}

}  // namespace swaplock
