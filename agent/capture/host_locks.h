// The locks that are on this host now: zram devices come and go, zswap gets
// another compressor or is switched on and off. Keeps the programs' tables and
// the meaning of the cells up to date, and zswap's programs attached while
// zswap is in use.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_HOST_LOCKS_H_
#define SWAPLOCK_AGENT_CAPTURE_HOST_LOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "agent/capture/hold_sampler.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/lock_finder.h"
#include "agent/capture/plan.h"
#include "agent/capture/window_builder.h"
#include "agent/host/environment.h"

namespace swaplock {

class HostLocks {
 public:
  // Without `probe_zram_devices` no device is read to find its locks.
  HostLocks(bool probe_zram_devices, WindowBuilder* builder);

  // Begins with programs that were loaded by the plan `loaded`; null: there are
  // none. `symbols` and `sampler` must outlive the next call.
  void Restart(const KernelSymbols* symbols, const Plan& loaded,
               int cells_per_cpu, HoldSampler* sampler);

  // Gives the programs and the builder the locks that are there now. Call it
  // between two windows.
  void Find();

  // Attaches the programs, after the first Find.
  void Attach();

  // Whether the host is not what the programs were told; the window should
  // then end and Find be called. Call it about once a second.
  bool Changed();

  // What of the loaded plan is in use.
  const Plan& plan() const { return plan_; }

  // One sentence per lock that is not known, and why.
  std::vector<std::string> NotMeasured() const;

 private:
  // Whether zswap has come into use, and its hooks are now attached; or is no
  // longer, for two looks, so that what was under way has ended.
  bool ZswapSwitched();
  void SwitchZswap();
  // Whether zswap has another compressor, or its pools have just become known.
  // Those of an old compressor are dropped at once: their memory becomes other
  // things' when their last page is gone.
  bool ZswapChanged();
  // Each load shows its pool until all of a compressor's first pools are known.
  void LookForZswapPools();
  std::vector<PoolLocks> ZswapPoolLocks() const;
  // Whether the programs have found a lock of zswap's that was not known.
  bool LearnedLocks();
  // Whether holds appeared that belong to no known compressor: a device was
  // reset and set up again between two looks.
  bool UnknownCompressor();
  uint64_t OtherHolds();

  const bool probe_zram_devices_;
  WindowBuilder* const builder_;
  const KernelSymbols* symbols_ = nullptr;
  HoldSampler* sampler_ = nullptr;
  Plan loaded_;
  Plan plan_;
  int cells_per_cpu_ = 0;
  std::vector<uint64_t> cpu_offsets_;
  std::vector<ZramDevice> devices_;
  std::string finding_failed_;  // why some device's locks are not known
  std::vector<std::string> left_out_;
  uint64_t found_ns_ = 0;     // when the locks were looked for
  uint64_t other_holds_ = 0;  // of unknown compressors, so far

  bool zswap_on_ = false;
  bool zswap_switched_ = false;
  int zswap_idle_looks_ = 0;
  std::string zswap_algorithm_;
  std::vector<uint64_t> zswap_locks_;  // per-CPU pointers, learned
  std::vector<uint64_t> zswap_pools_;  // struct zswap_pool, seen by loads
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_HOST_LOCKS_H_
