#include "common/log.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace swaplock {

std::string FormatLogLine(absl::Time time, LogLevel level,
                          absl::string_view message) {
  const char letter = level == LogLevel::kInfo      ? 'I'
                      : level == LogLevel::kWarning ? 'W'
                                                    : 'E';
  std::string line = absl::StrCat(
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()), " ",
      absl::string_view(&letter, 1), " ");
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    line.push_back(byte < 0x20 || byte == 0x7f ? '?' : c);
  }
  return line;
}

void Log(LogLevel level, absl::string_view message) {
  const std::string line =
      absl::StrCat(FormatLogLine(absl::Now(), level, message), "\n");
  // One write, so that lines of several threads do not mix. Nobody is left to
  // tell when stderr is closed.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
}

bool LogSite::Admit(absl::Time now, uint64_t* left_out) {
  absl::MutexLock lock(&mutex_);
  // A wall clock that stepped back must not silence the site for longer.
  if (now < next_ && next_ - now <= period_) {
    ++left_out_;
    return false;
  }
  *left_out = left_out_;
  left_out_ = 0;
  next_ = now + period_;
  return true;
}

void LogSite::Log(LogLevel level, absl::string_view message) {
  uint64_t left_out = 0;
  if (!Admit(absl::Now(), &left_out)) return;
  if (left_out == 0) {
    swaplock::Log(level, message);
  } else {
    swaplock::Log(level, absl::StrCat(message, " (and ", left_out,
                                      " more since the last such line)"));
  }
}

}  // namespace swaplock
