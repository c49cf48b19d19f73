// Where windows come from: the kernel (agent/bpf_source) or a record file
// (agent/replay_source). Everything behind this seam runs without BPF.
//
// One thread calls Next() over and over. A source is made with a StopEvent
// that it watches while it blocks.
#ifndef SWAPLOCK_AGENT_WINDOW_SOURCE_H_
#define SWAPLOCK_AGENT_WINDOW_SOURCE_H_

#include "absl/status/statusor.h"
#include "common/window.h"

namespace swaplock {

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
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_WINDOW_SOURCE_H_
