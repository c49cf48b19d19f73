// The fleet as this server knows it now, for metrics and queries: what the
// ledger holds, who is connected, and what was refused.
//
// Only what is durable enters: the writer tells it after the commit, so a
// metric never shows what a crash could take back.
//
// Thread-safe: one mutex, held to add or to copy. Readers take a snapshot and
// work outside it.
#ifndef SWAPLOCK_SERVER_FLEET_FLEET_H_
#define SWAPLOCK_SERVER_FLEET_FLEET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/window.h"
#include "server/admission/cardinality.h"
#include "server/admission/quarantine.h"
#include "server/fleet/delivery_totals.h"
#include "server/fleet/fleet_state.h"
#include "server/fleet/hardware_totals.h"
#include "server/fleet/host_groups.h"
#include "server/fleet/hosts_now.h"

namespace swaplock {

// Why a stream is ended; each is a value of the metric's label.
inline constexpr const char* kStreamRefusals[] = {
    "order",     // not a hello and then windows
    "protocol",  // a version that is too old
    "host_id",   // a name that is none
    "identity",  // not who it says, or not allowed
    "quarantine",
    "streams",          // too many in all
    "streams_of_host",  // too many of it
    "hosts",            // too many
};

struct ConnectionCounts {
  uint64_t open = 0;
  uint64_t refused = 0;  // closed at once, since start
  uint64_t delayed = 0;  // times when the next one had to wait, since start
};

struct FleetSnapshot {
  FleetState state;
  HostsNow hosts_now;
  Delivery delivery;  // of all hosts: delivery_totals.h
  std::map<HardwareKey, HardwareCounts> hardware;
  std::vector<HostGroup> host_groups;        // of ForMetrics only
  std::map<std::string, uint64_t> streams;   // open ones by host; at least 1
  std::map<std::string, uint64_t> rejected;  // windows by reason, since start
  std::map<std::string, uint64_t> streams_refused;  // by reason, since start
  uint64_t windows_in_doubt = 0;  // that another server may have counted
  Quarantine quarantine;
  Overflow overflow;
  ConnectionCounts connections;
  // From the end of the last committed window to its commit; by the host's
  // clock, so a guess.
  absl::Duration ingest_lag;
  uint64_t commits = 0;  // since start
  absl::Duration commit_time;
  // What people are told when the hosts do not exist; empty for a real fleet.
  std::string replay;
};

class Fleet {
 public:
  // `replay`: as in the snapshot.
  explicit Fleet(FleetState loaded, const std::string& replay = "")
      : replay_(replay) {
    now_.state = std::move(loaded);
    now_.replay = replay;
  }

  // The windows are in the ledger, with these outcomes; the commit took
  // `commit_time` and ended at `now`.
  void Committed(const std::vector<Window>& windows,
                 const std::vector<Outcome>& outcomes, absl::Time now,
                 absl::Duration commit_time);
  void Rejected(absl::string_view reason);
  // For good, with this sentence. The host, when it is set aside now.
  std::optional<QuarantinedHost> Misbehaved(const std::string& host_id,
                                            absl::string_view sentence,
                                            absl::Time now);
  // False when it was not set aside.
  bool Release(const std::string& host_id, absl::Time now);
  void Restore(const std::vector<QuarantinedHost>& hosts);
  // One of kStreamRefusals.
  void StreamRefused(absl::string_view reason);
  void InDoubt();
  void SetOverflow(const Overflow& overflow);
  void SetConnections(const ConnectionCounts& connections);
  void StreamOpened(const std::string& host_id);
  void StreamClosed(const std::string& host_id);

  // Of the quarantine: zero and empty when the host is not set aside.
  std::pair<absl::Duration, std::string> SetAside(const std::string& host_id,
                                                  absl::Time now) const;
  std::vector<QuarantinedHost> SetAsideNow(absl::Time now) const;
  // Whether the ledger has windows of the host, and of how many hosts.
  std::pair<bool, size_t> Knows(const std::string& host_id) const;

  FleetSnapshot Snapshot() const;
  // With host_groups instead of state.hosts and hosts_now: a hundred times less
  // to copy while windows wait.
  FleetSnapshot ForMetrics();
  uint64_t commits() const;  // of the snapshot, without copying it
  const std::string& replay() const { return replay_; }

 private:
  const std::string replay_;
  mutable absl::Mutex mutex_;
  FleetSnapshot now_ ABSL_GUARDED_BY(mutex_);
  DeliveryTotals delivery_ ABSL_GUARDED_BY(mutex_);
  HardwareTotals hardware_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_FLEET_H_
