// The window source that is another process: an agent on this host that
// listens on a Unix socket (proto/local.proto). Ends its window when `cut` is
// requested, as agent/bpf_source does.
#ifndef SWAPLOCK_CLI_RECORD_AGENT_SOURCE_H_
#define SWAPLOCK_CLI_RECORD_AGENT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/cut_event.h"
#include "agent/window_source.h"

namespace swaplock {

class AgentSource : public WindowSource {
 public:
  // `address` is unix:PATH. Returns once the agent has said that it sends what
  // ends from now on. Unavailable, and what to do, if nobody does within
  // `patience`. `cut` outlives the source.
  static absl::StatusOr<std::unique_ptr<AgentSource>> Connect(
      const std::string& address, const CutEvent& cut,
      absl::Duration patience = absl::Seconds(10));

  // As the agent says: how long a window is that nothing cuts.
  virtual absl::Duration interval() const = 0;

  // OutOfRange when the agent has ended; ResourceExhausted, with a sentence on
  // what is lost, when it has given up this reader; else what broke.
  absl::StatusOr<Window> Next() override = 0;

  // Ends a Next() that waits, and every later one, with an error. From any
  // thread.
  virtual void Cancel() = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_AGENT_SOURCE_H_
