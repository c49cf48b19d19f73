// What the server tells its hosts unasked: how to measure, for all or for one
// of them for a while, and to connect anew.
//
// A host is told when its stream begins and when something changes. A deep-dive
// is kept in memory only: after a restart of the server a host that stayed away
// is not told again, and the agent ends it by itself.
//
// Thread-safe; calls streams without a lock of its own.
#ifndef SWAPLOCK_SERVER_STEERING_STEERING_H_
#define SWAPLOCK_SERVER_STEERING_STEERING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "proto/fleet.pb.h"

namespace swaplock {

// InvalidArgument, naming the field and its range, for what no agent could do.
absl::Status CheckSettings(const v1::Settings& settings);

class Steering {
 public:
  // Deep-dives at once: they cost hosts and server something.
  static constexpr size_t kMaxDeepDives = 64;

  // A host's open stream. Thread-safe.
  class Line {
   public:
    virtual ~Line() = default;
    // Sends them when it can. Settings replace those not sent yet.
    virtual void Say(std::vector<v1::ServerMessage> notices) = 0;
  };

  explicit Steering(Clock clock) : clock_(std::move(clock)) {}

  void Opened(const std::string& host_id, const std::shared_ptr<Line>& line);
  void Closed(const std::string& host_id, const Line* line);

  // For all hosts from now on; without a lease. Before the first call hosts are
  // told nothing and keep what they were started with.
  void SetForAll(const v1::Settings& settings);

  // `settings` has a lease, or ends the host's deep-dive with one of 0. Fields
  // of 0 are as for all. How many streams were told. InvalidArgument for
  // settings out of range, ResourceExhausted above kMaxDeepDives.
  absl::StatusOr<size_t> DeepDive(const std::string& host_id,
                                  const v1::Settings& settings);

  // Asks all to connect anew, no more than `per_second` of them a second.
  // Within which time.
  absl::Duration ReconnectAll(double per_second);

 private:
  struct Lease {
    v1::Settings settings;
    absl::Time end;  // by Now()
  };

  // Monotonic.
  absl::Time Now() const {
    return absl::UnixEpoch() + absl::Nanoseconds(clock_.boottime_ns());
  }
  // What is valid for the host, in the order in which it is to be said.
  std::vector<v1::ServerMessage> For(const std::string& host_id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<std::shared_ptr<Line>> LinesOf(const std::string& host_id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock clock_;
  mutable absl::Mutex mutex_;
  std::multimap<std::string, std::shared_ptr<Line>> lines_
      ABSL_GUARDED_BY(mutex_);
  std::optional<v1::Settings> for_all_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Lease> leases_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_STEERING_STEERING_H_
