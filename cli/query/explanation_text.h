// One verdict as `swaplock explain` shows it: its sentence, then everything
// that it rests on.
#ifndef SWAPLOCK_CLI_QUERY_EXPLANATION_TEXT_H_
#define SWAPLOCK_CLI_QUERY_EXPLANATION_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "proto/verdict_query.pb.h"

namespace swaplock {

// InvalidArgument when the server says what this version does not know.
absl::StatusOr<std::string> ExplanationText(const v1::VerdictExplanation& said,
                                            size_t max_width);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_EXPLANATION_TEXT_H_
