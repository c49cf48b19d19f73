// Which cells of the kernel's array belong to which zram device: gives a device
// its cells when it appears, says what they mean, and where its locks go.
//
// Pure; not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_DEVICE_CELLS_H_
#define SWAPLOCK_AGENT_CAPTURE_DEVICE_CELLS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/bpf/hold_record.h"
#include "agent/capture/lock_finder.h"
#include "agent/capture/plan.h"
#include "agent/capture/window_builder.h"
#include "agent/host/environment.h"

namespace swaplock {

struct DeviceLocks {
  ZramDevice device;
  uint64_t zram = 0;  // struct zram *
  ZramLocks locks;
};

struct ZswapLocks {
  std::string algorithm;
  // Per-CPU pointers to the mutexes of its pools, where the plan has to know
  // them: learned from waiters. Not needed with hold hooks.
  std::vector<uint64_t> locks;
  // Of its zsmalloc pools, where they are known; one set of cells for all.
  std::vector<PoolLocks> pools;
};

// Everything the programs are told about locks.
struct LockTables {
  std::vector<sl_comp> comps;
  std::vector<sl_zram_device> zram_devices;
  std::vector<std::pair<uint64_t, sl_lock>> locks;
  std::vector<sl_row> rows;  // one per CPU
  // Devices for which no cells were left; theirs go to the common ones.
  std::vector<std::string> left_out;
};

// Lanes of one zram compressor on this kernel.
int Lanes(const Plan& plan);
// The first cells of zswap's zsmalloc pool and of devices, and the cells that
// one device with `compressors` of them takes.
int ZswapPoolCell(const Plan& plan);
int FirstDeviceCell(const Plan& plan);
int DeviceCells(const Plan& plan, int compressors);

// Sets the meanings of all cells in `builder` and returns the tables.
// `cpu_offsets` has one entry per possible CPU; empty when unknown, and then
// no per-CPU lock's address is.
LockTables AssignCells(const Plan& plan,
                       const std::vector<DeviceLocks>& devices,
                       const ZswapLocks& zswap,
                       const std::vector<uint64_t>& cpu_offsets,
                       int cells_per_cpu, WindowBuilder* builder);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_DEVICE_CELLS_H_
