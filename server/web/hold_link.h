// The address of one hold's page.
#ifndef SWAPLOCK_SERVER_WEB_HOLD_LINK_H_
#define SWAPLOCK_SERVER_WEB_HOLD_LINK_H_

#include <string>

#include "server/fleet/fleet_state.h"

namespace swaplock {

// "/hold?host=...", which HoldPage() understands.
std::string HoldLink(const TopHold& top);

// "WINDOW-PID-NS", which "/hold?id=" understands: digits and dashes, and no
// host, so that it can be a metric's label.
std::string HoldId(const TopHold& top);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HOLD_LINK_H_
