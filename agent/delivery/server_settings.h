// What a server asked the agent to measure like, and until when.
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_AGENT_DELIVERY_SERVER_SETTINGS_H_
#define SWAPLOCK_AGENT_DELIVERY_SERVER_SETTINGS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "absl/time/time.h"
#include "agent/window_source.h"
#include "proto/fleet.pb.h"

namespace swaplock {

class ServerSettings {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr uint32_t kHourMs = 3'600'000;

  void Take(const v1::Settings& message, Instant now) {
    SourceSettings taken;
    if (message.interval_ms() > 0) {
      taken.interval = absl::Milliseconds(
          std::clamp<uint32_t>(message.interval_ms(), 100, kHourMs));
    }
    taken.top_k = static_cast<int>(std::min<uint32_t>(message.top_k(), 64));
    taken.top_hold_ns = message.top_hold_ns();
    if (message.lease_ms() == 0) {
      standing_ = taken;
      lease_end_ = now;
      return;
    }
    leased_ = taken;
    lease_end_ =
        now + std::chrono::milliseconds(std::min(message.lease_ms(), kHourMs));
  }

  // What is valid at `now`.
  const SourceSettings& At(Instant now) const {
    return now < lease_end_ ? leased_ : standing_;
  }

 private:
  SourceSettings standing_;
  SourceSettings leased_;
  Instant lease_end_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SERVER_SETTINGS_H_
