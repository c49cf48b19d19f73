// What one host counted over some days, added up from a ledger's rows.
#ifndef SWAPLOCK_SERVER_VERDICT_HOST_WINDOW_H_
#define SWAPLOCK_SERVER_VERDICT_HOST_WINDOW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/verdict/evidence.h"
#include "server/verdict/rollout.h"

namespace swaplock {

// The rows of one host. Keeps pointers into the history it was made of.
class HostRows {
 public:
  // Without the days after `today`.
  HostRows(const HostHistory& history, int64_t today);

  // What was counted under `kernel` on so many days from `first` on; nothing
  // when the host was not measured on any of them.
  std::optional<HostWindow> WindowOf(const std::string& kernel, int64_t first,
                                     int days) const;

  // Whether it was measured on the day or on a later one, under any kernel.
  bool MeasuredFrom(int64_t day) const;

 private:
  // By day, then kernel.
  std::map<int64_t, std::map<std::string, HostDay>> days_;
  std::map<int64_t, std::map<std::string, std::vector<const HostDayCell*>>>
      cells_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_HOST_WINDOW_H_
