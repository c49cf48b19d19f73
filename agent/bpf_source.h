// The window source that measures: loads the BPF programs that this kernel
// takes, attaches them, and makes a window of the cells at the end of each
// interval.
#ifndef SWAPLOCK_AGENT_BPF_SOURCE_H_
#define SWAPLOCK_AGENT_BPF_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/stop_event.h"
#include "agent/window_source.h"

namespace swaplock {

struct BpfSourceOptions {
  absl::Duration interval = absl::Seconds(10);
  int top_k = 16;  // longest holds kept per window

  // What the windows' keys begin with; seq counts from 1.
  std::string host_id;
  std::string boot_id;  // 16 raw bytes
  uint64_t epoch = 0;

  std::string agent_version;
  std::map<std::string, std::string> labels;

  // Whether the algorithm of a zram device may be learned by asking the device.
  bool probe_zram_devices = true;

  // Capabilities of the kernel to do without, so that tests reach every tier
  // on one kernel: "fentry", "kprobe", "tp_btf".
  std::vector<std::string> without;
};

// Loads and attaches before it returns. `stop` must outlive the source.
// PermissionDenied: the process may not load BPF. Unavailable: this kernel
// takes none of the programs. The message says what was tried.
absl::StatusOr<std::unique_ptr<WindowSource>> MakeBpfSource(
    const BpfSourceOptions& options, const StopEvent& stop);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_BPF_SOURCE_H_
