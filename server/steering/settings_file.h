// The file that says how hosts are to measure: proto/settings_file.proto.
#ifndef SWAPLOCK_SERVER_STEERING_SETTINGS_FILE_H_
#define SWAPLOCK_SERVER_STEERING_SETTINGS_FILE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/secret_file.h"
#include "proto/fleet.pb.h"
#include "server/steering/steering.h"

namespace swaplock {

struct FileSettings {
  v1::Settings for_all;
  std::string host_id;     // of the deep-dive; empty: none
  v1::Settings deep_dive;  // with what is left of it at `now` as its lease
};

// InvalidArgument in one sentence, with the line, when it cannot be used.
absl::StatusOr<FileSettings> ParseSettings(absl::string_view text,
                                           absl::Time now);

// Reads the file whenever it changed, and has `steering` say it. What cannot be
// used changes nothing.
//
// Not thread-safe.
class SettingsFile {
 public:
  // `steering` outlives it.
  SettingsFile(std::string path, Steering* steering)
      : path_(std::move(path)), steering_(steering) {}

  // In any case; the error names the file.
  absl::Status Read(absl::Time now);
  // The same if it changed since it was last read.
  absl::Status ReadIfChanged(absl::Time now);

 private:
  const std::string path_;
  Steering* const steering_;
  FileStamp seen_;
  std::string in_deep_dive_;  // the host that the file put there
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_STEERING_SETTINGS_FILE_H_
