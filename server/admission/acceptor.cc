#include "server/admission/acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace swaplock {
namespace {

// An agent gives a connection up after ten seconds, and its kernel knocks after
// 0, 1, 3 and 7 of them. In a longer queue all would have given up by the time
// it is their turn, and nobody would ever get in. The kernel bounds it further
// by net.core.somaxconn.
constexpr double kLongestQueueSeconds = 2;
constexpr int kLeastBacklog = 64;
constexpr int kMostBacklog = 4096;
// Open files that are not agents' connections: ledger, HTTP, gRPC's own.
constexpr size_t kOtherFiles = 96;
constexpr absl::Duration kLookEvery = absl::Milliseconds(500);

// Steps of the wall clock must neither open nor close the gate.
absl::Time MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::UnixEpoch() + absl::DurationFromTimespec(now);
}

// Of the socket; 0 when the descriptor is none.
uint64_t InodeOf(int fd) {
  struct stat entry = {};
  if (fstat(fd, &entry) != 0 || !S_ISSOCK(entry.st_mode)) return 0;
  return entry.st_ino;
}

std::string AddressOf(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
  } else if (peer.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(peer);
    inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
  }
  return text;
}

bool IsOfThisMachine(const std::string& address) {
  return absl::StartsWith(address, "127.") || address == "::1" ||
         absl::StartsWith(address, "::ffff:127.");
}

int Backlog(const AcceptLimits& limits) {
  return static_cast<int>(std::clamp<double>(
      kLongestQueueSeconds * limits.per_second, kLeastBacklog, kMostBacklog));
}

// Whether the peer has closed it, or its half of it, already.
bool IsGone(int fd) {
  pollfd peer = {fd, POLLRDHUP, 0};
  return poll(&peer, 1, 0) == 1;
}

AcceptLimits WithinOpenFiles(AcceptLimits limits) {
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
      files.rlim_cur == RLIM_INFINITY) {
    return limits;
  }
  const size_t all = files.rlim_cur;
  const size_t room = all > 2 * kOtherFiles ? all - kOtherFiles : all / 2;
  if (room < limits.connections) {
    Log(LogLevel::kWarning,
        absl::StrCat("accept: at most ", room, " connections instead of ",
                     limits.connections,
                     ", because the limit on open files is ", all));
    limits.connections = room;
  }
  return limits;
}

// Binds and listens; -1 with errno.
int OpenListener(const ListenAddress& address, int backlog) {
  const int fd = socket(address.is_ipv6 ? AF_INET6 : AF_INET,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  int bound = -1;
  if (address.is_ipv6) {
    const int off = 0;  // [::] is IPv4 too, as with gRPC's own listener
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    sockaddr_in6 in = {};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &in.sin6_addr);
    bound = bind(fd, reinterpret_cast<sockaddr*>(&in), sizeof(in));
  } else {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &in.sin_addr);
    bound = bind(fd, reinterpret_cast<sockaddr*>(&in), sizeof(in));
  }
  if (bound == 0 && listen(fd, backlog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int PortOf(int fd) {
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

}  // namespace

Acceptor::Acceptor(int listener, int wake, const AcceptLimits& limits)
    : listener_(listener),
      wake_(wake),
      limits_(limits),
      port_(PortOf(listener)),
      rate_(limits.per_second, limits.burst) {}

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(
    const ListenAddress& address, const AcceptLimits& limits) {
  const int listener = OpenListener(address, Backlog(limits));
  if (listener < 0) {
    return absl::UnavailableError(absl::StrCat(
        "listen for gRPC on ", address.ToString(), ": ", std::strerror(errno)));
  }
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    const int error = errno;
    close(listener);
    return absl::UnavailableError(
        absl::StrCat("make an eventfd: ", std::strerror(error)));
  }
  return std::unique_ptr<Acceptor>(
      new Acceptor(listener, wake, WithinOpenFiles(limits)));
}

Acceptor::~Acceptor() {
  Stop();
  close(listener_);
  close(wake_);
}

void Acceptor::Start(Take take) {
  thread_ = std::thread([this, take = std::move(take)] { Run(take); });
}

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(wake_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

Acceptor::Stats Acceptor::stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

bool Acceptor::Sleep(absl::Duration wait, bool* connection) {
  pollfd fds[] = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
  const auto ms = static_cast<int>(
      std::min<int64_t>(absl::ToInt64Milliseconds(wait) + 1, 60'000));
  poll(fds, connection != nullptr ? 2 : 1, ms);
  if (connection != nullptr) *connection = (fds[1].revents & POLLIN) != 0;
  return (fds[0].revents & POLLIN) == 0;
}

bool Acceptor::Admit() {
  bool delayed = false;
  while (true) {
    const absl::Duration wait = rate_.Take(MonotonicNow());
    if (wait == absl::ZeroDuration()) return true;
    if (!delayed) {
      absl::MutexLock lock(&mutex_);
      ++stats_.delayed;
    }
    delayed = true;
    // What comes meanwhile waits in the kernel.
    if (!Sleep(wait)) return false;
  }
}

void Acceptor::ForgetClosed() {
  looked_ = MonotonicNow();
  const auto end =
      std::remove_if(connections_.begin(), connections_.end(),
                     [this](const Connection& connection) {
                       if (InodeOf(connection.fd) == connection.inode) {
                         return false;
                       }
                       const auto it = per_address_.find(connection.address);
                       if (--it->second == 0) per_address_.erase(it);
                       return true;
                     });
  connections_.erase(end, connections_.end());
  absl::MutexLock lock(&mutex_);
  stats_.open = connections_.size();
}

bool Acceptor::HasRoom(const std::string& address) {
  const auto full = [&] {
    const auto it = per_address_.find(address);
    return connections_.size() >= limits_.connections ||
           (it != per_address_.end() && !IsOfThisMachine(address) &&
            it->second >= limits_.connections_per_address);
  };
  if (full() && MonotonicNow() - looked_ >= kLookEvery) ForgetClosed();
  return !full();
}

bool Acceptor::AcceptOne(const Take& take) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  const int fd = accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    // Out of files or memory: what is open may end; do not spin.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
        errno == ENOMEM) {
      static LogSite site(absl::Seconds(30));
      site.Log(LogLevel::kError,
               absl::StrCat("accept: ", std::strerror(errno)));
      Sleep(absl::Milliseconds(200));
    }
    return true;
  }
  if (IsGone(fd)) {
    close(fd);
    return false;
  }
  std::string address = AddressOf(peer);
  if (!HasRoom(address)) {
    {
      absl::MutexLock lock(&mutex_);  // before the peer can see it
      ++stats_.refused;
    }
    close(fd);
    static LogSite site(absl::Seconds(30));
    site.Log(LogLevel::kWarning,
             absl::StrCat("accept: closed a connection from ", address,
                          ": there are ", connections_.size(), " of at most ",
                          limits_.connections, ", and at most ",
                          limits_.connections_per_address, " of one address"));
    return true;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ++per_address_[address];
  connections_.push_back({fd, InodeOf(fd), std::move(address)});
  {
    absl::MutexLock lock(&mutex_);
    ++stats_.accepted;
    stats_.open = connections_.size();
  }
  take(fd);
  return true;
}

void Acceptor::Run(const Take& take) {
  bool connection = false;
  while (Sleep(kLookEvery, &connection)) {
    if (!connections_.empty() && MonotonicNow() - looked_ >= kLookEvery) {
      ForgetClosed();
    }
    if (!connection) continue;
    if (!Admit()) return;
    // Those that gave up while they waited take nobody's turn.
    for (int i = 0; i < kMostBacklog && !AcceptOne(take); ++i) {
    }
  }
}

}  // namespace swaplock
