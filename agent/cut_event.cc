#include "agent/cut_event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace swaplock {

absl::StatusOr<std::unique_ptr<CutEvent>> CutEvent::Create() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, "make an eventfd");
  return std::unique_ptr<CutEvent>(new CutEvent(fd));
}

CutEvent::~CutEvent() { close(fd_); }

void CutEvent::Request() const {
  const int saved_errno = errno;  // a signal handler must not change it
  const uint64_t one = 1;
  // Fails only if the counter is full: then it is readable anyway.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
  errno = saved_errno;
}

bool CutEvent::Take() const {
  uint64_t requests = 0;
  return read(fd_, &requests, sizeof(requests)) == sizeof(requests);
}

}  // namespace swaplock
