// The window source that measures: loads the BPF programs that this kernel
// takes, attaches them, and makes a window of the cells at the end of each
// interval. It follows the host: zram devices that come and go, and the zram
// module when it is loaded later, end the current window early and begin one
// with the new set-up.
#ifndef SWAPLOCK_AGENT_BPF_SOURCE_H_
#define SWAPLOCK_AGENT_BPF_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/cut_event.h"
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

  // Whether a zram device's locks may be found by reading one sector of it.
  // Without it, all devices share one row, and waits are not measured.
  bool probe_zram_devices = true;

  // Share of one CPU that timing holds may take; 0: no limit.
  double cpu_budget = 0.01;

  // Ends the current window when it is asked to; outlives the source. Null:
  // nobody asks.
  const CutEvent* cut = nullptr;

  // Capabilities of the kernel to do without, so that tests reach every tier
  // on one kernel: "fentry", "kprobe", "tp_btf".
  std::vector<std::string> without;
};

// Loads and attaches before it returns. `stop` must outlive the source.
//
// A kernel or a user that permits no BPF is not an error: the windows then have
// no cells, and their coverage says in one sentence why.
absl::StatusOr<std::unique_ptr<WindowSource>> MakeBpfSource(
    const BpfSourceOptions& options, const StopEvent& stop);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_BPF_SOURCE_H_
