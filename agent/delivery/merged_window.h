// Two windows in a row as one: what the spool makes of its oldest windows when
// it is full, so that time resolution is lost instead of counts.
#ifndef SWAPLOCK_AGENT_DELIVERY_MERGED_WINDOW_H_
#define SWAPLOCK_AGENT_DELIVERY_MERGED_WINDOW_H_

#include <cstdint>

#include "common/window.h"

namespace swaplock {

// How many windows a window stands for; at least 1. They are those with the
// sequence numbers up to its own.
inline uint64_t WindowsIn(const Window& window) {
  return window.merged == 0 ? 1 : window.merged;
}

// Whether `second` follows `first` without a gap and measured the same: same
// host, boot, epoch, kernel and coverage.
bool CanMerge(const Window& first, const Window& second);

// From the start of `first` to the end of `second`, with the key of `second`.
// Only for windows that CanMerge.
Window Merged(const Window& first, const Window& second);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_MERGED_WINDOW_H_
