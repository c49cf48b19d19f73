// A rollout made of windows that were recorded on real kernels.
#ifndef SWAPLOCK_TESTS_LOAD_RESAMPLED_WINDOWS_H_
#define SWAPLOCK_TESTS_LOAD_RESAMPLED_WINDOWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/window.h"

namespace swaplock {

// One kernel's recorded windows, in their order, and what the fleet calls it.
struct RecordedKernel {
  std::string name;  // the release, unless two differ only otherwise
  std::vector<Window> windows;
};

// The windows of a record file.
absl::StatusOr<RecordedKernel> ReadRecordedKernel(const std::string& path,
                                                  const std::string& name);

struct ResampledRollout {
  int hosts_per_arm = 20;
  int64_t boot_day = 20'000;  // of the first; the others within 5 days
  int blocks_per_day = 20;    // drawn with replacement
  int windows_per_block = 9;  // in a row: a burst stays one
  // A host draws a block with a probability that grows by this power of how
  // many of its waits are over 10 ms, in standard deviations: busy and calm
  // hosts. Standard deviations between hosts, and of one host's two kernels.
  double host_spread = 0.7;
  double change_spread = 0.3;
};

// Hosts that go from `base` to `renewed`, and as many that reboot into `base`
// again: a window a day, each the sum of the blocks drawn for it, in the order
// in which they end. The same seed gives the same windows.
std::vector<Window> ResampledWindows(const RecordedKernel& base,
                                     const RecordedKernel& renewed,
                                     const ResampledRollout& rollout,
                                     uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_RESAMPLED_WINDOWS_H_
