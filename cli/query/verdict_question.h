// What the flags and words of `swaplock verdicts` ask for.
#ifndef SWAPLOCK_CLI_QUERY_VERDICT_QUESTION_H_
#define SWAPLOCK_CLI_QUERY_VERDICT_QUESTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/verdict_query.pb.h"

namespace swaplock {

// As the flags say; empty ones do not choose.
struct VerdictChoice {
  std::string pair;  // "6.12.57..6.18.15"; either side may be empty
  std::string kernel;
  std::vector<std::string> kinds;  // "regression" ...
  std::string subsystem;
  std::string operation;
  std::vector<std::string> states;  // "new" ...
  uint64_t incident = 0;

  bool empty() const {
    return pair.empty() && kernel.empty() && kinds.empty() &&
           subsystem.empty() && operation.empty() && states.empty() &&
           incident == 0;
  }
};

// InvalidArgument, in one sentence with the words there are, for one that is
// none of them.
absl::StatusOr<v1::ListVerdictsRequest> RequestOf(const VerdictChoice& choice);

// A verdict's number: at least 1.
absl::StatusOr<uint64_t> VerdictIdOf(const std::string& word);

// "14d", "36h", "90m", "2w": whole numbers, above 0 and at most 365 days.
absl::StatusOr<absl::Duration> SuppressionOf(const std::string& text);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_VERDICT_QUESTION_H_
