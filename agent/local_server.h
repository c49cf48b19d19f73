// What the agent offers to programs on its own host: its windows as they come
// (proto/local.proto), on a Unix socket that only its user may open.
//
// Publish() and the destructor are the owner's thread's; the calls run on
// gRPC's.
#ifndef SWAPLOCK_AGENT_LOCAL_SERVER_H_
#define SWAPLOCK_AGENT_LOCAL_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/cut_event.h"
#include "common/window.h"

namespace swaplock {

class LocalServer {
 public:
  struct Options {
    std::string address;  // unix:PATH
    std::string agent_version;
    absl::Duration interval;
    // What a call of Cut requests; outlives the server. Null: windows cannot be
    // cut, for they are of a recording.
    const CutEvent* cut = nullptr;
    // Windows that are kept for a watcher that does not read; with the next one
    // it is given up.
    size_t most_behind = 32;
    size_t most_watchers = 16;
  };

  // InvalidArgument for another address; FailedPrecondition when somebody else
  // listens there, something else is there, or it cannot be made. A socket that
  // nobody listens on any more is replaced.
  static absl::StatusOr<std::unique_ptr<LocalServer>> Start(
      const Options& options);
  // Watchers get what is kept for them, within a second, and then the end.
  virtual ~LocalServer() = default;

  // For all who watch. Never blocks.
  virtual void Publish(const Window& window) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_LOCAL_SERVER_H_
