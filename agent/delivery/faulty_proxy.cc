#include "agent/delivery/faulty_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// One direction of a connection.
struct Line {
  int from = -1;
  int to = -1;
  std::deque<std::pair<Clock::time_point, std::string>> kept;
  bool ended = false;
};

struct Connection {
  Line to_server;
  Line to_agent;
  bool is_closed = false;  // by the agent
};

void Receive(Line* line, std::chrono::milliseconds delay) {
  std::array<char, 1 << 16> bytes;
  while (!line->ended) {
    const ssize_t got =
        recv(line->from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    line->ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (got <= 0) return;
    line->kept.emplace_back(
        Clock::now() + delay,
        std::string(bytes.data(), static_cast<size_t>(got)));
  }
}

// Returns how many bytes went on.
size_t PassOn(Line* line, size_t most) {
  size_t sent = 0;
  while (!line->kept.empty() && line->kept.front().first <= Clock::now() &&
         sent < most) {
    std::string& bytes = line->kept.front().second;
    const ssize_t put =
        send(line->to, bytes.data(), std::min(bytes.size(), most - sent),
             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put <= 0) break;
    sent += static_cast<size_t>(put);
    bytes.erase(0, static_cast<size_t>(put));
    if (bytes.empty()) line->kept.pop_front();
  }
  if (line->ended && line->kept.empty()) shutdown(line->to, SHUT_WR);
  return sent;
}

}  // namespace

FaultyProxy::FaultyProxy(int target_port)
    : target_port_(target_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  (void)bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 16);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

FaultyProxy::~FaultyProxy() {
  stopping_ = true;
  thread_.join();
  close(listener_);
}

std::string FaultyProxy::Address() const {
  return absl::StrCat("127.0.0.1:", port_);
}

void FaultyProxy::Run() {
  std::list<Connection> open;
  while (!stopping_) {
    pollfd waiting = {listener_, POLLIN, 0};
    if (poll(&waiting, 1, 10) > 0) {
      const int agent = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in target = Loopback(target_port_);
      if (connect(server, reinterpret_cast<const sockaddr*>(&target),
                  sizeof(target)) != 0) {
        close(agent);
        close(server);
        continue;
      }
      ++connections_;
      open.emplace_back();
      open.back().to_server = {agent, server, {}, false};
      open.back().to_agent = {server, agent, {}, false};
    }
    const std::chrono::milliseconds delay(delay_ms.load());
    const size_t most = trickle > 0 ? trickle.load() : size_t{1} << 20;
    for (auto it = open.begin(); it != open.end();) {
      Receive(&it->to_server, delay);
      if (!silent) {
        Receive(&it->to_agent, delay);
        bytes_to_server_ += PassOn(&it->to_server, most);
        PassOn(&it->to_agent, most);
      }
      if (it->to_server.ended && !it->is_closed) {
        it->is_closed = true;
        ++closed_;
      }
      if (it->is_closed && (silent || it->to_server.kept.empty())) {
        close(it->to_server.from);
        close(it->to_server.to);
        it = open.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const Connection& connection : open) {
    close(connection.to_server.from);
    close(connection.to_server.to);
  }
}

}  // namespace swaplock
