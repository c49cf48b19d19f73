// One host around a reboot, and the windows that its agent sends: one a day,
// and on the day of the reboot one of the new boot.
#ifndef SWAPLOCK_TESTS_LOAD_HOST_CALENDAR_H_
#define SWAPLOCK_TESTS_LOAD_HOST_CALENDAR_H_

#include <cstdint>
#include <string>
#include <vector>

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

// Sorts by the day on which they end, then by host, as a server gets them.
void SortByTime(std::vector<Window>* windows);

// The day on which a window ends.
int64_t DayOf(const Window& window);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_HOST_CALENDAR_H_
