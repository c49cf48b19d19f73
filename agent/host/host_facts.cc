#include "agent/host/host_facts.h"

namespace swaplock {

bool HostFacts::Has(absl::string_view capability) const {
  return capabilities.count(std::string(capability)) > 0;
}

bool HostFacts::MayUseBpf() const {
  return !user_namespace &&
         (Has("CAP_SYS_ADMIN") || (Has("CAP_BPF") && Has("CAP_PERFMON")));
}

bool HostFacts::Admin() const {
  return !user_namespace && Has("CAP_SYS_ADMIN");
}

bool HostFacts::MayUseKprobes() const {
  return Admin() || (MayUseBpf() && perf_event_paranoid.value_or(0) <= 2);
}

bool HostFacts::LockdownOn() const {
  return !lockdown.empty() && lockdown != "none";
}

bool HostFacts::NotBuilt(absl::string_view option) const {
  const auto it = config.find(std::string(option));
  return it != config.end() && it->second == "n";
}

bool HostFacts::Built(absl::string_view option) const {
  const auto it = config.find(std::string(option));
  return it != config.end() && it->second != "n";
}

const MountFacts* HostFacts::Mount(absl::string_view type) const {
  for (const MountFacts& mount : mounts) {
    if (mount.type == type) return &mount;
  }
  return nullptr;
}

const ZramDeviceFacts* HostFacts::UnreadableDevice() const {
  for (const ZramDeviceFacts& device : zram_devices) {
    if (device.SetUp() && device.read_error != 0) return &device;
  }
  return nullptr;
}

}  // namespace swaplock
