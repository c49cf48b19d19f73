// The finding of a comparison: which outcomes it is made of, what they say
// together, and that in a sentence.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_FINDING_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_FINDING_H_

#include "cli/compare/comparison.h"
#include "cli/compare/comparison_arms.h"

namespace swaplock {

// Marks the outcomes that are judged, and fills finding, sentence, cause and
// what there is to remark. `base` and `newer` are the runs that are compared.
// Adds to the refusals if nothing can be judged; where there are any, nothing
// is, and without `force` nothing stays to be shown.
void Conclude(const Runs& base, const Runs& newer, bool force,
              Comparison* comparison);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_FINDING_H_
