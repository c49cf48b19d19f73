// The doctor: what swaplock can measure on a host, why not the rest, and what
// to do about it. Pure: the report is made of what agent/doctor_reading found,
// so that recorded hosts are its tests; agent/doctor_diagnosis finds the
// problems in it, agent/doctor_report makes text and JSON of it.
#ifndef SWAPLOCK_AGENT_DOCTOR_DOCTOR_H_
#define SWAPLOCK_AGENT_DOCTOR_DOCTOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/lock_catalog.h"
#include "agent/host/host_facts.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

struct ClockCost {
  double ns = 0;
  bool in_bpf = false;  // else in user space, which may differ
  std::string how;      // "bpf_ktime_get_ns() in a BPF program, ..."
};

// Of programs that run on this host now, by the kernel's count.
struct ProgramCost {
  uint64_t runs = 0;
  uint64_t run_time_ns = 0;
};

struct DoctorInput {
  KernelSymbols symbols;
  Plan plan;  // with what the kernel lets this process attach
  HostFacts facts;
  // Programs of the plan that the kernel refused to load, with the reason.
  std::vector<std::pair<std::string, std::string>> refused_programs;
  std::string load_failure;  // why none could be loaded; "": they could
  std::optional<ClockCost> clock;
  // Of a hold, by the programs' own code on a lock that nobody else takes.
  std::optional<double> hold_cost_ns;
  // By the name of the program in the plan.
  std::map<std::string, ProgramCost> running;

  // Whether the host has such locks, with or without type information.
  bool HasZram() const;
  bool HasZswap() const;
  // Whether holds or waits are missing without this program: those that only
  // show holds in progress or measure the cost are no loss.
  bool CostsHolds(absl::string_view program) const;
  // Whether a member of a type whose name begins so is known.
  bool KnowsType(absl::string_view beginning) const;
};

enum class DoctorVerdict { kHolds = 1, kPart = 2, kNothing = 3 };

struct LockReport {
  std::string name;  // "zram stream"
  LockModel model = LockModel::kUnspecified;
  Tier hold = Tier::kUnspecified;
  Tier wait = Tier::kUnspecified;
  Tier latency = Tier::kUnspecified;  // of the operations that take it
  std::string measured;
  // Whether holds are to be measured: of zram's and zswap's locks. Holders of
  // zsmalloc's spinlocks are not off their CPU, so that waits say enough.
  bool holds_wanted = false;
  bool complete = false;  // all that is wanted is measured
};

struct Problem {
  std::string what;
  std::string remedy;
  bool costs_holds = false;  // or waits; else it costs details
};

struct Need {
  std::string what;
  std::vector<std::string> capabilities;
  bool held = false;
  std::string note;
};

struct LockCost {
  std::string lock;
  std::optional<double> ns_per_hold;
  bool at_least = false;
  std::string derivation;
};

struct DoctorReport {
  DoctorVerdict verdict = DoctorVerdict::kNothing;
  std::string summary;
  std::vector<LockReport> locks;
  std::vector<Problem> problems;  // those that cost holds first
  std::vector<std::string> not_measured;
  std::vector<Probe> probes;
  HostFacts host;
  bool btf_vmlinux = false;
  std::string btf_zram;  // "vmlinux" (built in), "module", "": none
  std::string btf_zsmalloc;
  std::vector<std::pair<std::string, bool>> capabilities;  // and if effective
  std::vector<Need> needs;
  std::optional<ClockCost> clock;
  std::vector<std::pair<std::string, ProgramCost>> programs;
  std::vector<LockCost> costs;

  // 0: holds are measured, 1: only part, 69: nothing.
  int ExitStatus() const;
};

// Capabilities that something here asks for.
const std::vector<std::string>& DoctorCapabilities();

DoctorReport MakeDoctorReport(const DoctorInput& input);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DOCTOR_DOCTOR_H_
