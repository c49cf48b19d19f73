// A record as one line of JSON: swaplock.v1.Record of proto/record.proto in the
// protocol buffers' mapping, with its field names. Bytes are base64, 64-bit
// numbers are strings, fields that are 0 are left out.
#ifndef SWAPLOCK_CLI_RECORD_RECORD_JSON_H_
#define SWAPLOCK_CLI_RECORD_RECORD_JSON_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/record_file.h"

namespace swaplock {

// Without a newline. InvalidArgument if a text in it is not UTF-8.
absl::StatusOr<std::string> RecordJson(const Record& record);

// Also takes a line of a bare Window, as `swaplock-agent --print=json` writes
// it. Nothing for a record of no kind. InvalidArgument with a sentence for what
// is no such JSON, has a field that this version does not know, or breaks the
// schema (common/window.h, common/run.h).
absl::StatusOr<std::optional<Record>> ParseRecordJson(absl::string_view line);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_RECORD_JSON_H_
