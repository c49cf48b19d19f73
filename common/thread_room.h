// Whether there is room for threads, asked before libraries make theirs: those
// end a process that gets none without a word that helps.
#ifndef SWAPLOCK_COMMON_THREAD_ROOM_H_
#define SWAPLOCK_COMMON_THREAD_ROOM_H_

#include "absl/status/status.h"

namespace swaplock {

// Makes so many threads and ends them again. Unavailable, in one sentence with
// the limits to look at, when they cannot be had.
absl::Status CheckThreadRoom(int threads);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_THREAD_ROOM_H_
