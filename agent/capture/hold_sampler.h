// What the BPF programs measure, read: cells, losses, longest holds; and what
// they are told: locks, the window's number, how many holds to time. Owns the
// programs (hold_programs) and the maps between kernel and agent.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_HOLD_SAMPLER_H_
#define SWAPLOCK_AGENT_CAPTURE_HOLD_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/bpf/hold_record.h"
#include "agent/capture/hold_programs.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/plan.h"

namespace swaplock {

class HoldSampler {
 public:
  // As HoldPrograms::Load.
  static absl::StatusOr<std::unique_ptr<HoldSampler>> Load(
      const KernelSymbols& symbols, const Plan& plan, int cells_per_cpu);
  ~HoldSampler();
  HoldSampler(const HoldSampler&) = delete;
  HoldSampler& operator=(const HoldSampler&) = delete;

  // As HoldPrograms has them.
  void Attach() { programs_->Attach(); }
  void SetZswapOn(bool on) { programs_->SetZswapOn(on); }
  const std::vector<std::pair<std::string, std::string>>& refused() const {
    return programs_->refused();
  }
  int cpus() const { return cpus_; }
  using ProgramStats = HoldPrograms::Stats;
  std::vector<ProgramStats> ReadProgramStats() const {
    return programs_->ReadStats();
  }

  // Cell `index` summed over CPUs, cumulative; 32-bit fields modulo 2^32.
  // max_ns[0] is the maximum in `window`, which may have ended one before the
  // current. A CPU whose program was preempted while it wrote the cell enters
  // with what it last had there in one piece; the rest comes next time.
  sl_cell ReadCell(int index, uint32_t window);
  // Latency `index` likewise.
  sl_dist ReadLatency(int index, uint32_t window);
  // Losses since loading, by enum sl_loss.
  std::vector<uint64_t> ReadLosses() const;

  // Hands over the records that came through the ring since the last call.
  void DrainTop(const std::function<void(const sl_top_hold&)>& hold,
                const std::function<void(const sl_top_wait&)>& wait);

  // Holds that have lasted more than a millisecond and last on, by walking all
  // tasks; nothing where the kernel has no task iterator.
  std::vector<sl_hold_facts> ReadHoldsInProgress();

  // The number of the window that begins now.
  void SetWindow(uint32_t window);

  void SetComps(const std::vector<sl_comp>& comps);
  void SetZramDevices(const std::vector<sl_zram_device>& zram_devices);
  // CpuOffset(0), for what all CPUs have alike.
  void SetCpu0Offset(uint64_t offset);
  // One hold in 2^shift is timed from now on; at most 16.
  void SetTimingShift(uint32_t shift);

  // A hold of a lock that nobody else takes, measured by the programs' own code
  // but without trampolines; medians.
  struct Calibration {
    uint32_t clock_ns = 0;  // of one clock read
    uint32_t cost_ns = 0;   // of acquisition and release together
    uint32_t hold_ns = 0;   // as it comes out
  };
  // Before Attach. Unavailable where the kernel cannot run the program.
  absl::StatusOr<Calibration> Calibrate();
  // Replaces all known locks.
  void SetLocks(const std::vector<std::pair<uint64_t, sl_lock>>& locks);
  // Replaces the owner probe's locks; one row per CPU, cpus() of them.
  void SetRows(const std::vector<sl_row>& rows);

  // Mutexes that the programs saw a waiter inside zswap's text wait for, with
  // the CPU it waited on, since LearnZswap; and more stacks to look at.
  std::vector<std::pair<uint64_t, int>> TakeLearned(int budget);
  // Text ranges [begin, end) of zswap's functions; at most 6.
  void LearnZswap(const std::vector<std::pair<uint64_t, uint64_t>>& text);

  // struct zswap_pool addresses that loads have gone through since
  // WatchZswap(true).
  std::vector<uint64_t> ZswapPools() const;
  // Watching costs each load a few nanoseconds. Starting forgets what was seen.
  void WatchZswap(bool on);

  // Copies kernel memory; up to 4096 bytes.
  absl::Status Peek(uint64_t address, void* out, size_t bytes) const;
  // The function that an address lies in, "zram_submit_bio [zram]"; the address
  // in hexadecimal where there is none. "" where the kernel cannot be asked.
  std::string FunctionName(uint64_t address) const;
  // What is added to a per-CPU pointer for this CPU's instance.
  absl::StatusOr<uint64_t> CpuOffset(int cpu) const;
  // Runs `touch`, which reads from zram devices, and returns the devices'
  // names and struct zram addresses as the block layer showed them.
  absl::StatusOr<std::vector<std::pair<std::string, uint64_t>>> WatchDisks(
      const std::function<void()>& touch);

  // Memory of all maps.
  uint64_t map_bytes() const { return map_bytes_; }

 private:
  struct Ring;

  HoldSampler(std::unique_ptr<HoldPrograms> programs, int cells_per_cpu);
  absl::Status MapMemory();

  std::unique_ptr<HoldPrograms> programs_;
  hold_sampler* s_;  // of programs_
  std::unique_ptr<Ring> ring_;
  bpf_link* holds_now_ = nullptr;
  int cpus_ = 0;
  int cells_per_cpu_ = 0;
  const sl_cell* cells_ = nullptr;
  const sl_latency* latencies_ = nullptr;
  const sl_cpu* cpu_ = nullptr;
  size_t cells_bytes_ = 0;
  size_t latencies_bytes_ = 0;
  size_t cpu_bytes_ = 0;
  uint64_t map_bytes_ = 0;
  std::map<int, sl_cell> stable_cells_;  // last read in one piece
  std::map<int, sl_latency> stable_latencies_;
  std::vector<uint64_t> known_locks_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_HOLD_SAMPLER_H_
