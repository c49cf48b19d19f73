// A window that is small enough to be sent: the server refuses a message of
// more than a mebibyte, and would refuse it for ever.
#ifndef SWAPLOCK_AGENT_DELIVERY_FITTED_WINDOW_H_
#define SWAPLOCK_AGENT_DELIVERY_FITTED_WINDOW_H_

#include <cstddef>

#include "common/window.h"

namespace swaplock {

// With half a mebibyte there is room to merge it with another one.
inline constexpr size_t kMaxWindowBytes = 512 << 10;

// Drops the shortest of the longest holds, those in progress first, until the
// window has at most `max_bytes` when serialized, or no holds; then its devices
// are counted together, under the name "". No count is lost. What is still too
// large stays so: the uplink drops a window that no server takes, and counts
// it. Whether anything changed.
bool FitWindow(size_t max_bytes, Window* window);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_FITTED_WINDOW_H_
