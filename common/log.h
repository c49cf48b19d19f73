// What a daemon tells whoever runs it: one line on stderr per message, as
// systemd's journal and a terminal take it.
//
//   2026-01-31T12:00:00.123Z W uplink: connect to db1:7787: refused
//
// Thread-safe. Control characters are replaced, so that no message, whatever
// it quotes, makes a second line.
#ifndef SWAPLOCK_COMMON_LOG_H_
#define SWAPLOCK_COMMON_LOG_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace swaplock {

enum class LogLevel { kInfo, kWarning, kError };

void Log(LogLevel level, absl::string_view message);

// The line without its end, as Log() writes it.
std::string FormatLogLine(absl::Time time, LogLevel level,
                          absl::string_view message);

// A place that may have much to say: at most one line per period, which then
// tells how many were left out. Make it a function's static variable.
class LogSite {
 public:
  explicit LogSite(absl::Duration period) : period_(period) {}
  void Log(LogLevel level, absl::string_view message);

  // Whether a message at `now` may be written; if so, `left_out` is how many
  // before it were not.
  bool Admit(absl::Time now, uint64_t* left_out);

 private:
  const absl::Duration period_;
  absl::Mutex mutex_;
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_LOG_H_
