// Pictures of holds.
#ifndef SWAPLOCK_SERVER_WEB_HOLD_CHARTS_H_
#define SWAPLOCK_SERVER_WEB_HOLD_CHARTS_H_

#include <string>

#include "absl/time/time.h"
#include "server/fleet/fleet.h"
#include "server/web/page_text.h"

namespace swaplock {

// What holders did, for the series with the most hold time. Empty where no host
// sees holds.
std::string PartsChart(const AllSeries& all);

// The longest holds of the day over time.
std::string LongestChart(const FleetSnapshot& snapshot, absl::Time now);

// One hold: its holder, who ran instead, who waited.
std::string HoldChart(const Hold& hold);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HOLD_CHARTS_H_
