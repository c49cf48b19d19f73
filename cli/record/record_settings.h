// What `swaplock record` was asked to do, checked.
#ifndef SWAPLOCK_CLI_RECORD_RECORD_SETTINGS_H_
#define SWAPLOCK_CLI_RECORD_RECORD_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/run.h"

namespace swaplock {

struct RunNames {
  std::string run;                  // empty: the command's file name
  std::string variant;              // may be empty
  std::vector<std::string> labels;  // "name=value"
};

// The begin of a run of `command`, which has a word at least, with a new id,
// without repetition, times and host. InvalidArgument with a sentence for a
// name or a label that no record may have.
absl::StatusOr<RunBegin> MakeRunBegin(const RunNames& names,
                                      const std::vector<std::string>& command);

// 16 hexadecimal digits that nobody else has.
std::string NewRunId();

// How many runs of this name and variant the record file at `path` has; 0 when
// it is not there. Fails as common/record_file's reader does.
absl::StatusOr<uint32_t> RunsOf(const std::string& path, const RunBegin& run);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_RECORD_SETTINGS_H_
