// The agent's line to the server: sends the spool's windows one at a time and
// removes each when the server has acknowledged it. Whatever breaks, it
// connects again after a back-off with full jitter and sends what was not
// acknowledged once more; the server knows what it has already.
//
// Of several servers it keeps to one (agent/server_choice). The window that it
// was sending when it turned to another is in doubt, and is sent so: servers
// that share a ledger count it once; others may count this one window twice.
//
// Owns one thread, which sleeps whenever nothing is to be done.
#ifndef SWAPLOCK_AGENT_DELIVERY_UPLINK_H_
#define SWAPLOCK_AGENT_DELIVERY_UPLINK_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/delivery/backoff.h"
#include "agent/delivery/server_choice.h"
#include "agent/delivery/server_settings.h"
#include "agent/delivery/spool.h"
#include "agent/delivery/telemetry_stream.h"
#include "agent/window_source.h"
#include "common/channel.h"
#include "common/window.h"

namespace swaplock {

class Uplink {
 public:
  struct Options {
    std::vector<std::string> servers;  // host:port, the first ones preferred
    ChannelIdentity credentials;       // that they are shown
    // Who says hello while no window waits. A stream for waiting windows says
    // hello for the oldest one.
    WindowKey identity;
    std::string agent_version;
    absl::Duration first_backoff = absl::Seconds(1);
    absl::Duration backoff_cap = absl::Seconds(120);
    absl::Duration keepalive = absl::Seconds(30);
    // A server that owes an answer for so long is given up.
    absl::Duration answer_timeout = absl::Seconds(30);
    // How long a window that may have reached a server is sent to no other one.
    absl::Duration patience = absl::Minutes(2);
  };

  struct Stats {
    bool connected = false;  // welcomed by the server
    uint64_t streams = 0;    // calls begun
    uint64_t sent = 0;       // windows, repeated ones included
    uint64_t acknowledged = 0;
    uint64_t duplicates = 0;  // of these, known to the server before
    uint64_t postponed = 0;   // "send it again later"
    // Dropped from the spool: the server said "never", or would have.
    uint64_t refused = 0;
    uint64_t in_doubt = 0;  // sent though another server may have it
    uint64_t turns = 0;     // to another server
  };

  // `spool` must outlive the uplink.
  Uplink(const Options& options, Spool* spool);
  // Ends the stream at once. What was not acknowledged stays in the spool.
  ~Uplink();
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  // Call it after appending to the spool.
  void Wake();

  // Sends what waits, then closes the stream. Returns when that is done, when
  // `timeout` has passed, or when the next attempt would come after it; true if
  // nothing waits any more. Nothing is sent afterwards.
  bool Drain(absl::Duration timeout);

  Stats stats() const;

  // How the server wants windows to be measured now.
  SourceSettings settings() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;

  void Run();
  // One stream from hello to its end; OK when there is nothing left to do on
  // it.
  absl::Status RunStream();
  absl::Status Greet(const WindowKey& identity, TelemetryStream* stream);
  absl::Status SendWindows(const std::string& host_id, TelemetryStream* stream);
  absl::Status Deliver(const Spool::Parcel& parcel, TelemetryStream* stream);
  // Moves out what the server answered, if it did. Settings and the like, which
  // answer nothing, are obeyed on the way.
  bool TakeAnswer(TelemetryStream* stream, v1::ServerMessage* answer);
  void Obey(const v1::ServerMessage& message);
  absl::Status Postpone(const v1::Reject& reject, TelemetryStream* stream);
  absl::Status Exchange(v1::AgentMessage message, TelemetryStream* stream,
                        v1::ServerMessage* answer);

  // Sleeps until something changed or `until`; false if it is past `until`.
  bool Sleep(Instant until);
  bool Stopping() const;
  bool Draining() const;
  void SetConnected(bool connected);
  void Count(uint64_t Stats::*counter);
  void Changed();

  const Options options_;
  Spool* const spool_;
  // The thread's.
  Backoff backoff_;
  ServerChoice choice_;
  Instant reconnect_;  // when the stream is to end; its greatest value: never
  std::mt19937_64 random_{std::random_device()()};
  absl::Duration retry_after_;  // asked for by the server at the last end

  mutable std::mutex mutex_;
  // Waits by the monotonic clock: a step of the wall clock must not stretch
  // them, as it would with absl::Mutex.
  mutable std::condition_variable condition_;
  // All guarded by mutex_.
  bool changed_ = false;
  bool stopping_ = false;
  bool draining_ = false;
  Instant drain_end_;
  bool finished_ = false;  // the thread has nothing left to do
  Stats stats_;
  ServerSettings settings_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_UPLINK_H_
