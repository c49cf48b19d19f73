// A request to stop, made once and seen by everybody who waits: an eventfd
// that stays readable after Raise(). Raise() may be called from any thread and
// from a signal handler.
#ifndef SWAPLOCK_AGENT_STOP_EVENT_H_
#define SWAPLOCK_AGENT_STOP_EVENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace swaplock {

class StopEvent {
 public:
  // Fails only when no file descriptor is left.
  static absl::StatusOr<std::unique_ptr<StopEvent>> Create();
  ~StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;

  // Async-signal-safe. More than one call is one.
  void Raise() const;

  bool Raised() const { return WaitFor(absl::ZeroDuration()); }

  // Returns true as soon as the event was raised, false after `timeout`, or
  // sooner once `other_fd`, unless it is -1, is readable. Neither steps of the
  // wall clock nor signals change how long it waits.
  bool WaitFor(absl::Duration timeout, int other_fd = -1) const;

  // Readable from Raise() on, for a poll set of the caller's. Never read it.
  int fd() const { return fd_; }

 private:
  explicit StopEvent(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_STOP_EVENT_H_
