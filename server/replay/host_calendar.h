// One host around a reboot, and the windows that its agent sends: one a day,
// and on the day of the reboot one of the new boot.
#ifndef SWAPLOCK_SERVER_REPLAY_HOST_CALENDAR_H_
#define SWAPLOCK_SERVER_REPLAY_HOST_CALENDAR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/window.h"

namespace swaplock {

struct HostCalendar {
  std::string host_id;
  int64_t boot_day = 0;  // since 1970 UTC; it boots at 01:00
  bool rebooted = true;  // false: the boot before goes on
  Environment before;
  Environment after;
};

// What the host measured on `day` under the kernel that it ran by its end, but
// for numbers: key, times, environment. The boot before was 100 days before.
Window WindowOfDay(const HostCalendar& host, int64_t day);

// What the host measured in the `length_ns` up to `now`, long after its last
// day; but for numbers. Its agent was started again meanwhile: `seq` counts
// from 1 anew.
Window WindowUntil(const HostCalendar& host, absl::Time now, uint64_t length_ns,
                   uint64_t seq);

// Sorts by the day on which they end, then by host, as a server gets them.
void SortByTime(std::vector<Window>* windows);

// The day on which a window ends.
int64_t DayOf(const Window& window);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_REPLAY_HOST_CALENDAR_H_
