// What a daemon tells the service manager that started it (sd_notify(3)): that
// it is ready, ends, and lives. Says nothing where nobody asked, that is
// without $NOTIFY_SOCKET.
#ifndef SWAPLOCK_COMMON_SERVICE_STATE_H_
#define SWAPLOCK_COMMON_SERVICE_STATE_H_

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace swaplock {

// Thread-safe. `status` is one line, for systemctl status.
void NotifyReady(absl::string_view status);
void NotifyStopping();

// Signs of life, for units with WatchdogSec. Not thread-safe.
class Watchdog {
 public:
  // Takes the time between two signs from the environment ($WATCHDOG_USEC,
  // $WATCHDOG_PID).
  Watchdog();

  // Longest time between two signs; infinite when nobody waits for them.
  absl::Duration period() const { return period_; }

  // This process lives. The next sign may come `pause` later than the unit
  // says, for that is planned.
  void Alive(absl::Duration pause = absl::ZeroDuration());

 private:
  absl::Duration period_ = absl::InfiniteDuration();
  absl::Duration asked_;  // what the service manager waits for now
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_SERVICE_STATE_H_
