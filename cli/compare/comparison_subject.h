// One subject of a comparison: its outcomes side by side, each with its test,
// or why there is none.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_SUBJECT_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_SUBJECT_H_

#include <vector>

#include "cli/compare/comparison.h"
#include "cli/compare/comparison_loss.h"
#include "cli/compare/comparison_outcomes.h"

namespace swaplock {

// `base` and `newer` have the numbers of each run that has the subject; not
// both are empty. Nothing is marked as judged yet.
ComparedSubject CompareSubject(const Subject& subject,
                               std::vector<const SubjectNumbers*> base,
                               std::vector<const SubjectNumbers*> newer,
                               const Losses& losses);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_SUBJECT_H_
