// Which of several servers the agent talks to: the first one in the list that
// answers, and then that one for as long as it does.
//
// It turns to the next one after three failures in a row. While a window may
// have reached this one, not before some time has passed, too: it is sent to
// the same server again, which knows whether it counted it.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_DELIVERY_SERVER_CHOICE_H_
#define SWAPLOCK_AGENT_DELIVERY_SERVER_CHOICE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/durable_file.h"

namespace swaplock {

class ServerChoice {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr int kFailures = 3;

  // At least one server, as host:port. `patience`: how long a window that may
  // have reached a server is sent to no other one.
  ServerChoice(std::vector<std::string> servers, absl::Duration patience)
      : servers_(std::move(servers)), patience_(patience) {}

  const std::string& server() const { return servers_[current_]; }

  // A number that stays the same over restarts and orders of the list.
  uint64_t number() const { return NumberOf(server()); }
  static uint64_t NumberOf(const std::string& server) {
    return uint64_t{1} << 32 | Crc32c(server);
  }

  // Begins with the server of this number, if it is one of them.
  void BeginWith(uint64_t number) {
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (NumberOf(servers_[i]) == number) current_ = i;
    }
  }

  // An attempt failed. True if another server is the current one now.
  bool Failed(Instant now, bool window_may_be_there) {
    if (!first_failure_.has_value()) first_failure_ = now;
    ++failures_;
    if (servers_.size() < 2 || failures_ < kFailures) return false;
    if (window_may_be_there &&
        now - *first_failure_ < absl::ToChronoNanoseconds(patience_)) {
      return false;
    }
    current_ = (current_ + 1) % servers_.size();
    Succeeded();
    return true;
  }

  // The current server took a window, or there was none to take.
  void Succeeded() {
    failures_ = 0;
    first_failure_.reset();
  }

 private:
  const std::vector<std::string> servers_;
  const absl::Duration patience_;
  size_t current_ = 0;
  int failures_ = 0;  // in a row
  std::optional<Instant> first_failure_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SERVER_CHOICE_H_
