// What the doctor wants to know of a host beside its symbols: plain values, as
// agent/doctor_reading reads them.
#ifndef SWAPLOCK_AGENT_HOST_HOST_FACTS_H_
#define SWAPLOCK_AGENT_HOST_HOST_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/host/environment.h"
#include "common/window.h"

namespace swaplock {

struct ZramDeviceFacts {
  ZramDevice device;
  int read_error = 0;  // errno of opening it for reading; 0: it can be read

  bool SetUp() const { return device.disksize_bytes > 0; }
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
  std::optional<int> perf_event_paranoid;
  bool psi = false;
  // RLIMIT_MEMLOCK; absent: unlimited.
  std::optional<uint64_t> memory_lock_bytes;
  std::vector<MountFacts> mounts;  // cgroup2, debugfs, securityfs, tracefs
  bool zram_loaded = false;        // or built in
  std::vector<ZramDeviceFacts> zram_devices;
  bool zswap_present = false;
  std::optional<bool> zswap_enabled;
  std::string zswap_compressor;

  bool Has(absl::string_view capability) const;
  // Whether capabilities let this process load programs. CAP_SYS_ADMIN stands
  // for CAP_BPF and CAP_PERFMON, which were split off it in 5.8.
  bool MayUseBpf() const;
  bool Admin() const;
  // Debian and Ubuntu have a kernel.perf_event_paranoid of 3 and more, which
  // asks for CAP_SYS_ADMIN whatever CAP_PERFMON says.
  bool MayUseKprobes() const;
  bool LockdownOn() const;
  // Whether the configuration is known and lacks the option.
  bool NotBuilt(absl::string_view option) const;
  bool Built(absl::string_view option) const;
  const MountFacts* Mount(absl::string_view type) const;
  // A device that is set up and cannot be read, or nullptr: its locks are not
  // found.
  const ZramDeviceFacts* UnreadableDevice() const;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_HOST_FACTS_H_
