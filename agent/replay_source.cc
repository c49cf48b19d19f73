#include "agent/replay_source.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {

absl::StatusOr<std::unique_ptr<ReplaySource>> ReplaySource::Open(
    const std::string& path, double speed, const StopEvent& stop) {
  if (!(speed >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("replay ", path, " at speed ", speed, ": below 0"));
  }
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) return reader.status();
  return std::unique_ptr<ReplaySource>(
      new ReplaySource(*std::move(reader), speed, stop));
}

absl::StatusOr<Window> ReplaySource::Next() {
  if (stop_.Raised()) return absl::OutOfRangeError("replay: stopped");
  absl::StatusOr<Window> window = reader_->Next();
  if (!window.ok()) return window;
  // The wall clock, because files may hold several boots; it may have stepped
  // back.
  if (speed_ > 0 && previous_end_unix_ns_.has_value() &&
      window->end_unix_ns > *previous_end_unix_ns_) {
    const absl::Duration distance =
        absl::Nanoseconds(window->end_unix_ns - *previous_end_unix_ns_);
    if (stop_.WaitFor(distance / speed_)) {
      return absl::OutOfRangeError("replay: stopped");
    }
  }
  previous_end_unix_ns_ = window->end_unix_ns;
  return window;
}

}  // namespace swaplock
