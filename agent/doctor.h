// The doctor: what swaplock can measure on a host, why not the rest, and what
// to do about it. Pure: the report is made of what agent/doctor_reading found,
// so that recorded hosts are its tests; agent/doctor_report makes text and JSON
// of it.
//
// Each problem is one sentence and has one remedy; a remedy that would not help
// here is not named. What is not known is not said to be so or not so.
#ifndef SWAPLOCK_AGENT_DOCTOR_H_
#define SWAPLOCK_AGENT_DOCTOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/environment.h"
#include "agent/kernel_symbols.h"
#include "agent/lock_catalog.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

struct ZramDeviceFacts {
  ZramDevice device;
  int read_error = 0;  // errno of opening it for reading; 0: it can be read
};

struct MountFacts {
  std::string type;      // "cgroup2"
  std::string expected;  // where swaplock looks
  std::string path;      // where it is: there, or else anywhere; "": nowhere
  bool InPlace() const { return path == expected; }
};

struct HostFacts {
  Environment environment;
  std::map<std::string, std::string> config;  // agent/kernel_config
  std::string lockdown;                       // "": cannot be told
  uint32_t uid = 0;
  bool user_namespace = false;         // not the initial one
  std::set<std::string> capabilities;  // effective, of those that matter
  bool btf_file = false;               // /sys/kernel/btf/vmlinux is there
  bool kprobes = false;                // perf has them
  std::optional<bool> bpf_stats;
  bool kernel_addresses = false;  // /proc/kallsyms shows them
  int kptr_restrict = -1;         // -1: cannot be read
  bool psi = false;
  // RLIMIT_MEMLOCK; absent: unlimited.
  std::optional<uint64_t> memory_lock_bytes;
  std::vector<MountFacts> mounts;  // cgroup2, debugfs, securityfs, tracefs
  bool zram_loaded = false;        // or built in
  std::vector<ZramDeviceFacts> zram_devices;
  bool zswap_present = false;
  std::optional<bool> zswap_enabled;
  std::string zswap_compressor;

  const MountFacts* Mount(absl::string_view type) const;
};

struct ClockCost {
  double ns = 0;
  bool in_bpf = false;  // else in user space, which may differ
  std::string how;      // "bpf_ktime_get_ns, the fastest of 5 test runs ..."
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
  // By the name of the program in the plan.
  std::map<std::string, ProgramCost> running;
};

enum class DoctorVerdict { kHolds = 1, kPart = 2, kNothing = 3 };

struct LockReport {
  std::string name;  // "zram stream"
  LockModel model = LockModel::kUnspecified;
  Tier hold = Tier::kUnspecified;
  Tier wait = Tier::kUnspecified;
  std::string measured;
  bool complete = false;
};

struct Problem {
  std::string what;
  std::string remedy;
  bool costs_holds = false;  // else it costs details
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

#endif  // SWAPLOCK_AGENT_DOCTOR_H_
