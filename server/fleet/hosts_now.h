// What hosts said last that is of the moment: the holds in progress and the
// context. It is kept in memory only and comes with the next windows after a
// restart.
//
// Bounded whatever hosts send: the longest kMaxHoldsOfHost holds of a host and
// kMaxHolds of all; kMaxContextBytes of each context, kMaxContexts contexts.
//
// A host is silent when no window of it has come for three of its intervals and
// ten seconds: what it held then is over or unknown. So is what is said by a
// window that ended, by its host's clock, a minute more than that before it
// came: the host catches up on what it could not send.
//
// Plain value, cheap to copy; not thread-safe.
#ifndef SWAPLOCK_SERVER_FLEET_HOSTS_NOW_H_
#define SWAPLOCK_SERVER_FLEET_HOSTS_NOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/cell.h"
#include "common/context.h"
#include "common/window.h"

namespace swaplock {

struct HoldInProgress {
  std::string host_id;
  std::string kernel_release;
  CellKey key;
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Hold hold;         // hold_ns and its parts are those up to `as_of`
  absl::Time as_of;  // end of the window that had it
  absl::Time until;  // when its host is silent; in the past: it was no news
};

struct HostContext {
  // Gauges and facts without the counters. Complete when the host said all that
  // it could read, and all of it is here.
  Context known;
  absl::Time as_of;
  WindowKey said_by;  // the last window applied to it
  absl::Time until;   // when its host is silent
};

class HostsNow {
 public:
  static constexpr size_t kMaxHoldsOfHost = 8;
  static constexpr size_t kMaxHolds = 512;
  static constexpr size_t kMaxContextBytes = 16 << 10;
  static constexpr size_t kMaxContexts = 4096;

  // `window` is its host's newest.
  void Take(const Window& window, absl::Time now);

  // Of hosts that are not silent, longest first.
  std::vector<HoldInProgress> HoldsInProgress(absl::Time now) const;
  // Of the host, silent or not; nothing if none is known.
  std::shared_ptr<const HostContext> ContextOf(
      const std::string& host_id) const;
  // Of its context; empty if it is not known.
  std::string FactOf(const std::string& host_id, const std::string& name) const;

 private:
  void TakeHolds(const Window& window, absl::Time as_of, absl::Time until);
  void TakeContext(const Window& window, absl::Time as_of, absl::Time until,
                   absl::Time now);

  std::vector<HoldInProgress> holds_;  // in no order
  std::map<std::string, std::shared_ptr<const HostContext>> contexts_;
  absl::Time swept_;  // when contexts of silent hosts were last looked for
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_HOSTS_NOW_H_
