// The window source that repeats a record file. Windows keep their recorded
// keys, so replaying a file twice into one server counts it once.
#ifndef SWAPLOCK_AGENT_REPLAY_SOURCE_H_
#define SWAPLOCK_AGENT_REPLAY_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "agent/stop_event.h"
#include "agent/window_source.h"
#include "common/record_file.h"

namespace swaplock {

class ReplaySource final : public WindowSource {
 public:
  // `speed` 0: as fast as asked. Otherwise windows come at their recorded
  // distance divided by it. `stop` must outlive the source.
  static absl::StatusOr<std::unique_ptr<ReplaySource>> Open(
      const std::string& path, double speed, const StopEvent& stop);

  // DataLoss where the file is damaged.
  absl::StatusOr<Window> Next() override;

 private:
  ReplaySource(std::unique_ptr<RecordReader> reader, double speed,
               const StopEvent& stop)
      : reader_(std::move(reader)), speed_(speed), stop_(stop) {}

  const std::unique_ptr<RecordReader> reader_;
  const double speed_;
  const StopEvent& stop_;
  std::optional<uint64_t> previous_end_unix_ns_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_REPLAY_SOURCE_H_
