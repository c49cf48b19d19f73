// Long holds, ended and in progress, as tables.
#ifndef SWAPLOCK_SERVER_WEB_HOLD_TABLES_H_
#define SWAPLOCK_SERVER_WEB_HOLD_TABLES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/fleet/fleet.h"

namespace swaplock {

// Which of an ended hold's numbers are known: those of its cell's tier.
class HoldTiers {
 public:
  explicit HoldTiers(const FleetState& state);
  // Whether the hold was seen from its begin to its end.
  bool IsWhole(const TopHold& top) const;

 private:
  std::map<std::pair<std::string, CellKey>, Tier> tiers_;
};

// Of the last 24 hours, longest first; of all hosts when `host_id` is empty.
std::vector<TopHold> HoldsOfTheDay(const FleetState& state, absl::Time now,
                                   const std::string& host_id);

std::string LongestHoldsHtml(const FleetSnapshot& snapshot, absl::Time now,
                             const std::string& host_id);
std::string InProgressHtml(const FleetSnapshot& snapshot, absl::Time now,
                           const std::string& host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HOLD_TABLES_H_
