// How much of the server one host, and all of them, may take: streams, hosts
// and windows. What is above a limit is refused with the time to wait, so
// nothing queues that is not bounded.
//
// Who may come at all is access.h's business, what may come in admit.h's.
//
// Thread-safe.
#ifndef SWAPLOCK_SERVER_ADMISSION_ADMISSION_H_
#define SWAPLOCK_SERVER_ADMISSION_ADMISSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/admission/rate_limit.h"

namespace swaplock {

struct AdmissionLimits {
  size_t streams = 12'000;  // open at once
  // Two agents with one identity are two; more is a loop somewhere.
  size_t streams_per_host = 4;
  size_t hosts = 50'000;  // that the ledger may come to know
  // Of a host. An agent that catches up sends as fast as it is answered.
  double windows_per_second = 200;
  double windows_at_once = 2'000;
};

class Admission {
 public:
  struct Refusal {
    const char* reason;  // "streams", "streams_of_host", "hosts"
    std::string sentence;
    absl::Duration retry_after;
  };

  explicit Admission(const AdmissionLimits& limits) : limits_(limits) {}

  // Nothing when the host may open one more stream, which is then counted until
  // CloseStream. `known_hosts`: of the ledger; `is_known`: whether it is one.
  std::optional<Refusal> OpenStream(const std::string& host_id, bool is_known,
                                    size_t known_hosts);
  void CloseStream(const std::string& host_id, absl::Time now);

  // Zero when the host's window may be taken, else after how long. The host has
  // a stream open.
  absl::Duration TakeWindow(const std::string& host_id, absl::Time now);

  size_t streams() const;

 private:
  struct Host {
    size_t streams = 0;
    bool is_known = false;
    RateLimit windows;
  };

  void ForgetIdle(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AdmissionLimits limits_;
  mutable absl::Mutex mutex_;
  // Hosts with a stream, and for some seconds those without one any more.
  std::map<std::string, Host> hosts_ ABSL_GUARDED_BY(mutex_);
  size_t streams_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t unknown_hosts_ ABSL_GUARDED_BY(mutex_) = 0;  // with a stream
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;           // without one
  absl::Time swept_ ABSL_GUARDED_BY(mutex_) = absl::UnixEpoch();
};

// The version that both sides speak, when a server speaks `oldest` to `newest`
// and the agent every one up to `agents_newest`; nothing when there is none.
constexpr std::optional<uint32_t> CommonProtocol(uint32_t oldest,
                                                 uint32_t newest,
                                                 uint32_t agents_newest) {
  if (agents_newest < oldest) return std::nullopt;
  return agents_newest < newest ? agents_newest : newest;
}

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_ADMISSION_H_
