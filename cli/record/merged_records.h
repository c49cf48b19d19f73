// Record files made of other files: several merged into one, and lines of JSON
// read back.
//
// Each makes `output` whole or not at all: it is written beside itself and put
// in place at the end. Errors are one sentence with the file;
// FailedPrecondition when `output` is there already, be it an input or not.
#ifndef SWAPLOCK_CLI_RECORD_MERGED_RECORDS_H_
#define SWAPLOCK_CLI_RECORD_MERGED_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace swaplock {

struct MergeResult {
  uint64_t records = 0;     // written
  uint64_t duplicates = 0;  // found again, and not written again
  // One sentence for each file whose tail was torn.
  std::vector<std::string> remarks;
};

// All records of `inputs`, in their order: a window by its key and the begin
// and the end of a run by its id once. Files whose last run has no end follow
// the others, so that no window of theirs comes to be part of it.
absl::StatusOr<MergeResult> MergeRecordFiles(
    absl::Span<const std::string> inputs, const std::string& output);

// The records of files of JSON lines ("-": stdin), see cli/record/record_json;
// empty lines are passed over.
absl::StatusOr<MergeResult> ImportJson(absl::Span<const std::string> inputs,
                                       const std::string& output);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_MERGED_RECORDS_H_
