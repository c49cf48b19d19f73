// Where windows come from: the kernel (agent/bpf_source) or a record file
// (agent/replay_source). Everything behind this seam runs without BPF.
//
// One thread calls Next() over and over. A source is made with a StopEvent
// that it watches while it blocks.
#ifndef SWAPLOCK_AGENT_WINDOW_SOURCE_H_
#define SWAPLOCK_AGENT_WINDOW_SOURCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/window.h"

namespace swaplock {

// What may change while a source measures. 0 in a field: as it was made.
struct SourceSettings {
  absl::Duration interval;   // length of a window
  int top_k = 0;             // longest holds in a window
  uint64_t top_hold_ns = 0;  // shorter holds are not among them
};

class WindowSource {
 public:
  virtual ~WindowSource() = default;

  // Blocks until the current interval ends and returns its window, complete
  // with its key. When the stop event is raised, it returns what was measured
  // since the interval began as one last, shorter window.
  //
  // OutOfRange: no more windows, now or ever: after the last one when stopped,
  // and at the end of a recording. Any other error is final too; a source that
  // can go on with less says so in the window's coverage instead.
  virtual absl::StatusOr<Window> Next() = 0;

  // From the next window on, between two calls of Next(). A recording is
  // repeated as it is.
  virtual void Apply(const SourceSettings& /*settings*/) {}
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_WINDOW_SOURCE_H_
