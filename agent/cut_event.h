// A request to end the current window now instead of at its interval's end: an
// eventfd that is readable from Request() until Take(). Request() may be called
// from any thread and from a signal handler.
#ifndef SWAPLOCK_AGENT_CUT_EVENT_H_
#define SWAPLOCK_AGENT_CUT_EVENT_H_

#include <memory>

#include "absl/status/statusor.h"

namespace swaplock {

class CutEvent {
 public:
  // Fails only when no file descriptor is left.
  static absl::StatusOr<std::unique_ptr<CutEvent>> Create();
  ~CutEvent();
  CutEvent(const CutEvent&) = delete;
  CutEvent& operator=(const CutEvent&) = delete;

  // Async-signal-safe. Several before one Take() are one.
  void Request() const;

  // Whether there was a request since the last Take(). Never blocks.
  bool Take() const;

  // For a poll set. Never read it.
  int fd() const { return fd_; }

 private:
  explicit CutEvent(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CUT_EVENT_H_
