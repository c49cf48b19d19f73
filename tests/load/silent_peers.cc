#include "tests/load/silent_peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace swaplock {

SilentPeers::SilentPeers(int port, size_t count) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (size_t i = 0; i < count; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
        0) {
      close(fd);
      return;
    }
    fds_.push_back(fd);
  }
}

SilentPeers::~SilentPeers() {
  for (const int fd : fds_) close(fd);
}

size_t SilentPeers::StillOpen() const {
  size_t open = 0;
  for (const int fd : fds_) {
    pollfd peer = {fd, POLLRDHUP, 0};
    if (poll(&peer, 1, 0) == 0) ++open;
  }
  return open;
}

}  // namespace swaplock
