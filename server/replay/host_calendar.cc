#include "server/replay/host_calendar.h"

#include <algorithm>
#include <cstring>

#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kDayNs = 86'400 * kSecondNs;
constexpr int64_t kBootBefore = 100;  // days

std::string BootId(const std::string& host_id, bool after) {
  uint64_t halves[2];
  halves[0] = HashOf(host_id, after ? 2 : 1);
  halves[1] = HashOf(host_id, halves[0]);
  std::string id(sizeof halves, '\0');
  std::memcpy(id.data(), halves, sizeof halves);
  return id;
}

}  // namespace

Window WindowOfDay(const HostCalendar& host, int64_t day) {
  const bool after = day >= host.boot_day;
  const bool new_boot = after && host.rebooted;
  const int64_t booted = new_boot ? host.boot_day : host.boot_day - kBootBefore;
  Window window;
  window.key.host_id = host.host_id;
  window.key.boot_id = BootId(host.host_id, new_boot);
  window.key.epoch = 1;
  window.key.seq = static_cast<uint64_t>(day - booted + 1);
  // It ends a second before midnight: a window counts on the day it ends.
  window.end_unix_ns = static_cast<uint64_t>(day + 1) * kDayNs - kSecondNs;
  window.end_boottime_ns =
      static_cast<uint64_t>(day + 1 - booted) * kDayNs - 3601 * kSecondNs;
  const uint64_t length = day == booted ? kDayNs - 3602 * kSecondNs : kDayNs;
  window.start_boottime_ns = window.end_boottime_ns - length;
  window.environment = after ? host.after : host.before;
  return window;
}

Window WindowUntil(const HostCalendar& host, absl::Time now, uint64_t length_ns,
                   uint64_t seq) {
  const auto end_ns = static_cast<uint64_t>(absl::ToUnixNanos(now));
  Window window = WindowOfDay(host, static_cast<int64_t>(end_ns / kDayNs));
  window.key.epoch = 2;
  window.key.seq = seq;
  window.end_boottime_ns -= window.end_unix_ns - end_ns;
  window.start_boottime_ns = window.end_boottime_ns - length_ns;
  window.end_unix_ns = end_ns;
  return window;
}

void SortByTime(std::vector<Window>* windows) {
  std::stable_sort(
      windows->begin(), windows->end(), [](const Window& a, const Window& b) {
        return std::tie(a.end_unix_ns, a.key) < std::tie(b.end_unix_ns, b.key);
      });
}

int64_t DayOf(const Window& window) {
  return static_cast<int64_t>(window.end_unix_ns / kDayNs);
}

}  // namespace swaplock
