// A fleet made of windows that were recorded on real kernels, by a block
// bootstrap: what a host measures in a day is the sum of blocks of recorded
// windows in a row, drawn with replacement.
#ifndef SWAPLOCK_SERVER_REPLAY_RESAMPLED_WINDOWS_H_
#define SWAPLOCK_SERVER_REPLAY_RESAMPLED_WINDOWS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
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
  int64_t last_day = 0;       // of all hosts; 0: 9 days after its boot
  int blocks_per_day = 20;    // drawn with replacement
  int windows_per_block = 9;  // in a row: a burst stays one
  // A host draws a block with a probability that grows by this power of how
  // many of its waits are over 10 ms, in standard deviations: busy and calm
  // hosts. Standard deviations between hosts, and of one host's two kernels.
  double host_spread = 0.7;
  double change_spread = 0.3;
};

// The same seed and calls give the same windows. Not thread-safe.
class ResampledFleet {
 public:
  ResampledFleet(const ResampledRollout& rollout, uint64_t seed);
  ~ResampledFleet();
  ResampledFleet(const ResampledFleet&) = delete;
  ResampledFleet& operator=(const ResampledFleet&) = delete;

  // Adds `count` hosts NAME-0, NAME-1 ... that go from `before` to `after` by a
  // reboot, and gives their days to `take`: host by host, from the 15th before
  // the reboot, a window each.
  void AddHosts(const std::string& name, int count,
                const RecordedKernel& before, const RecordedKernel& after,
                const std::function<void(Window)>& take);

  // After those days: each host's window up to `now`, of one block, in the
  // order in which they were added.
  std::vector<Window> WindowsUntil(absl::Time now);

 private:
  struct Host;
  struct Recording;
  const Recording& RecordingOf(const RecordedKernel& kernel);
  void AddDays(const Host& host, int64_t first, int64_t last,
               const std::function<void(Window)>& take);

  const ResampledRollout rollout_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::map<std::string, std::unique_ptr<Recording>> recordings_;  // by kernel
  std::vector<Host> hosts_;
};

// Hosts that go from `base` to `renewed`, and as many that reboot into `base`
// again, in the order in which their windows end.
std::vector<Window> ResampledWindows(const RecordedKernel& base,
                                     const RecordedKernel& renewed,
                                     const ResampledRollout& rollout,
                                     uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_REPLAY_RESAMPLED_WINDOWS_H_
