// What can be said of one quantity of repeated runs on two sides: the exact
// rank test over runs, its margin, and the smallest change that so many runs
// would show. The run is the unit, never the operation.
//
// Pure functions; swapping the sides inverts every ratio and keeps every p.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_JUDGEMENT_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_JUDGEMENT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace swaplock {

// A difference is shown when its p, adjusted for how many are judged, is at
// most this. So is the part of it that exceeds the margin, by a p of its own.
inline constexpr double kSignificance = 0.05;
// Smaller changes are nobody's regression, however certain.
inline constexpr double kMargin = 1.10;

struct Judgement {
  // Of medians, new over base. Nothing where either is 0.
  std::optional<double> ratio;
  int direction = 0;  // of the medians: -1 fell, 1 rose, 0 neither
  // Of the two-sided rank test; never 0. Nothing where no test can be made: a
  // side without a value, or one value everywhere.
  std::optional<double> p;
  bool exact = true;  // else sampled: from about 47 runs a side
  // That the change is within the margin.
  double p_margin = 1;
  // After Benjamini-Hochberg over what is judged; 1 for what is not.
  double p_adjusted = 1;
  // The factor that would be shown four times in five, given how much the runs
  // of a side differ. Nothing where that cannot be said: values of 0, or fewer
  // than two runs a side.
  std::optional<double> detectable;

  // Whether a change is shown, once adjusted.
  bool Shown() const {
    return direction != 0 && p.has_value() && p_adjusted <= kSignificance &&
           p_margin <= kSignificance;
  }
};

// Values are finite and at least 0, one per run.
Judgement Judge(const std::vector<double>& base,
                const std::vector<double>& newer);

// Sets p_adjusted of those that have a p: Benjamini-Hochberg, "step-up".
void Adjust(absl::Span<Judgement* const> judged);

// The fewest runs on either side whose test can give a p of at most `p`.
size_t FewestRuns(double p);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_JUDGEMENT_H_
