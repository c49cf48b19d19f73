#include "common/service_state.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr int kKeepVariables = 0;

// A service manager that does not listen is no reason to stop.
void Notify(const std::string& state) {
  sd_notify(kKeepVariables, state.c_str());
}

}  // namespace

void NotifyReady(absl::string_view status) {
  Notify(absl::StrCat("READY=1\nSTATUS=", status));
}

void NotifyStopping() { Notify("STOPPING=1\nSTATUS=ends"); }

Watchdog::Watchdog() {
  uint64_t period_us = 0;
  if (sd_watchdog_enabled(kKeepVariables, &period_us) > 0) {
    period_ = absl::Microseconds(static_cast<int64_t>(period_us));
  }
  asked_ = period_;
}

void Watchdog::Alive(absl::Duration pause) {
  if (period_ == absl::InfiniteDuration()) return;
  std::string state = "WATCHDOG=1";
  if (const absl::Duration wanted = period_ + pause; wanted != asked_) {
    asked_ = wanted;
    absl::StrAppend(&state,
                    "\nWATCHDOG_USEC=", absl::ToInt64Microseconds(wanted));
  }
  Notify(state);
}

}  // namespace swaplock
