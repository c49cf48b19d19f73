#include "agent/stop_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace swaplock {
namespace {

absl::Duration MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StopEvent>> StopEvent::Create() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, "make an eventfd");
  return std::unique_ptr<StopEvent>(new StopEvent(fd));
}

StopEvent::~StopEvent() { close(fd_); }

void StopEvent::Raise() const {
  const int saved_errno = errno;  // a signal handler must not change it
  const uint64_t one = 1;
  // Fails only if the counter is full: then it is readable anyway.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
  errno = saved_errno;
}

bool StopEvent::WaitFor(absl::Duration timeout, int other_fd) const {
  const absl::Duration deadline = MonotonicNow() + timeout;
  while (true) {
    const absl::Duration left =
        std::max(deadline - MonotonicNow(), absl::ZeroDuration());
    // An infinite duration would not fit a timespec; an hour is a round.
    const timespec round = absl::ToTimespec(std::min(left, absl::Hours(1)));
    // poll(2) passes over a descriptor of -1.
    pollfd poll_fds[] = {{fd_, POLLIN, 0}, {other_fd, POLLIN, 0}};
    const int ready = ppoll(poll_fds, 2, &round, nullptr);
    if (ready > 0) return poll_fds[0].revents != 0;
    if (ready == 0 && left <= absl::Hours(1)) return false;
  }
}

}  // namespace swaplock
