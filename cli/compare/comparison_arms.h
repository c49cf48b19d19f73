// Which runs are set against which: the two sides of a comparison, each from
// files or by a selector, paired by the name of the run.
//
// Pointers are into the recordings that were given; not thread-safe.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_ARMS_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_ARMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cli/report/recorded_run.h"

namespace swaplock {

using Runs = std::vector<const RecordedRun*>;

// Runs of one name on both sides, in the order of their begins.
struct Arms {
  std::string name;  // empty for windows that were recorded without a command
  Runs base;
  Runs newer;
  std::vector<std::string> remarks;  // runs left out, and why
};

// The runs that `selector` names: "KEY=VALUE" with a label's name, or kernel,
// variant, preempt, host or run as key; else the runs of that variant, and if
// there are none, of kernels whose release is or begins with it ("6.12" is not
// a beginning of "6.120"). Empty: all. InvalidArgument if there are none, with
// what there is.
absl::StatusOr<Runs> SelectRuns(absl::Span<const RecordedRun> runs,
                                absl::string_view selector);

// Both sides by name. Where each side has one name only they are paired
// whatever the names. InvalidArgument if no name is on both sides, or a side
// has runs of one name but of several variants or kernels, which says how to
// choose.
absl::StatusOr<std::vector<Arms>> PairRuns(const Runs& base, const Runs& newer);

// Takes out the runs whose command did not end well, or that measured nothing,
// and says so in `remarks`.
Runs Usable(const Runs& runs, std::vector<std::string>* remarks);

// "zram-inversion plain run 3".
std::string RunTitle(const RecordedRun& run);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_ARMS_H_
