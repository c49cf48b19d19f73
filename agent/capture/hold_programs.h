// The BPF programs: one object, those of its programs that the plan asks for,
// attached or not. Loading is loose: a program that the kernel refuses is left
// out, said so in refused(), and the others run.
//
// Everything is detached and freed by the destructor; nothing is pinned, so
// nothing stays behind when the process is killed.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_HOLD_PROGRAMS_H_
#define SWAPLOCK_AGENT_CAPTURE_HOLD_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/plan.h"

// Of the generated header and of libbpf, which stay out of this one.
struct bpf_link;
struct hold_sampler;

namespace swaplock {

// What failed and how: PermissionDenied for EPERM, with the reason as far as it
// can be told, else Unavailable.
absl::Status BpfError(absl::string_view what, int error);

class HoldPrograms {
 public:
  // Loads what `plan` says, and attaches nothing yet. PermissionDenied when the
  // kernel lets this process load no BPF at all; Unavailable when it takes none
  // of the programs.
  static absl::StatusOr<std::unique_ptr<HoldPrograms>> Load(
      const KernelSymbols& symbols, const Plan& plan, int cells_per_cpu);
  ~HoldPrograms();
  HoldPrograms(const HoldPrograms&) = delete;
  HoldPrograms& operator=(const HoldPrograms&) = delete;

  // Attaches every loaded program but those that serve zswap alone; from here
  // on cells count.
  void Attach();
  // Attaches those, or detaches them. What is under way then is not counted.
  void SetZswapOn(bool on);

  // Programs of the plan that could not be loaded or attached after all, by
  // name of the program, with the reason.
  const std::vector<std::pair<std::string, std::string>>& refused() const {
    return refused_;
  }

  // Possible CPUs: rows of cells exist for all of them.
  int cpus() const { return cpus_; }

  struct Stats {
    std::string program;
    uint64_t runs = 0;
    uint64_t run_time_ns = 0;
    uint64_t misses = 0;
  };
  // Of every attached program, since loading.
  std::vector<Stats> ReadStats() const;

  // Never null.
  hold_sampler* skeleton() const { return skeleton_; }

 private:
  HoldPrograms();
  absl::Status Open(const KernelSymbols& symbols, const Plan& plan,
                    int cells_per_cpu,
                    const std::vector<std::string>& leave_out);
  void AttachOne(const Attachment& attachment);

  Plan plan_;
  hold_sampler* skeleton_ = nullptr;
  std::map<std::string, bpf_link*> links_;
  int cpus_ = 0;
  std::vector<std::pair<std::string, std::string>> refused_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_HOLD_PROGRAMS_H_
