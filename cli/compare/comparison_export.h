// Comparisons for programs: JSON as proto/comparison.proto has it, and CSV with
// one line per outcome.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_EXPORT_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_EXPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cli/compare/comparison.h"

namespace swaplock {

// `remarks` are about the files. InvalidArgument if a text is not UTF-8.
absl::StatusOr<std::string> ComparisonsJson(
    absl::Span<const Comparison> comparisons,
    const std::vector<std::string>& remarks);

// A line of titles, then one per outcome that either side has; fields that do
// not apply are empty. RFC 4180 but for lines that end in a newline only.
std::string ComparisonsCsv(absl::Span<const Comparison> comparisons);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_EXPORT_H_
