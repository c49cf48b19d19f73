// A run: a command that was started while the locks were measured, its begin
// and its end as they are recorded (proto/record.proto has every field's unit
// and meaning), and the conversion of both.
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_COMMON_RUN_H_
#define SWAPLOCK_COMMON_RUN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cell.h"
#include "common/window.h"
#include "proto/record.pb.h"

namespace swaplock {

// The environment variable that tells a command where to write its RunResult,
// as JSON.
inline constexpr char kResultFileVariable[] = "SWAPLOCK_RESULT_FILE";

struct Measurement {
  std::string name;
  uint32_t threads = 0;
  int32_t nice = 0;
  Distribution latency;
  double sum_of_squares_ns2 = 0;  // 0: not known

  // Counts one operation.
  void Add(uint64_t ns);
  // Adds `other`'s operations, and its threads.
  void Merge(const Measurement& other);
};

struct RunResult {
  std::vector<Measurement> measurements;
  std::map<std::string, std::string> facts;
};

struct RunBegin {
  std::string id;  // 16 hexadecimal digits
  std::string name;
  std::string variant;
  uint32_t repetition = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> labels;
  std::string host_id;
  std::string boot_id;  // 16 raw bytes
  Environment environment;
  uint64_t begin_boottime_ns = 0;
  uint64_t begin_unix_ns = 0;
};

struct RunEnd {
  std::string run_id;
  uint64_t end_boottime_ns = 0;
  uint64_t end_unix_ns = 0;
  uint32_t exit_status = 0;
  uint32_t signal = 0;
  std::string error;
  RunResult result;
};

v1::RunBegin ToProto(const RunBegin& begin);
v1::RunEnd ToProto(const RunEnd& end);
v1::RunResult ToProto(const RunResult& result);

// InvalidArgument, with a sentence that names the field, for a run without id
// or name, a boot id that is no 16 bytes, or a distribution that
// common/window.h refuses.
absl::StatusOr<RunBegin> FromProto(const v1::RunBegin& message);
absl::StatusOr<RunEnd> FromProto(const v1::RunEnd& message);
absl::StatusOr<RunResult> FromProto(const v1::RunResult& message);

// The file that kResultFileVariable names. InvalidArgument for text that is no
// such JSON.
std::string ResultJson(const RunResult& result);
absl::StatusOr<RunResult> ParseResultJson(absl::string_view json);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_RUN_H_
