// Runs on two sides, compared: for each subject and outcome the values of both,
// the change and its rank test; and one finding for the whole.
//
// The finding is made of few outcomes that are fixed beforehand, adjusted by
// Benjamini-Hochberg: rate, operations over 10 ms and the slowest of everything
// that the command measured itself; without that the last two of every
// operation; without those the waits of every lock of one model. All else
// explains. Lower layers never overrule a higher one: what a lock does to its
// waiters shows there.
//
// Pure functions. The order of files and runs does not matter, and swapping the
// sides turns "worse" into "better" and changes no p.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/compare/comparison_arms.h"
#include "cli/compare/comparison_grounds.h"
#include "cli/compare/comparison_judgement.h"
#include "cli/compare/comparison_outcomes.h"

namespace swaplock {

enum class Finding {
  kNotComparable,
  kNotEnoughRuns,
  kNoDifference,  // shown; see ComparedOutcome::judgement.detectable
  kWorse,
  kBetter,
  kMixed,  // some outcomes worse, some better
};
// "not comparable", "not enough runs", "no difference shown", "worse" ...
absl::string_view Name(Finding finding);

struct ComparedOutcome {
  Outcome outcome;
  std::vector<double> base;  // one per run that has it
  std::vector<double> newer;
  Judgement judgement;
  bool judged = false;   // the finding is made of it
  std::string untested;  // why there is no test although there are values

  // Worse: 1, better: -1; 0 if the change is neither, or is not shown.
  int Verdict() const;
};

struct ComparedSubject {
  Subject subject;
  // "24 threads, nice -19", "mutex -> split_mutex", "exact".
  std::string detail;
  std::vector<ComparedOutcome> outcomes;  // those that either side has
  std::vector<std::string> notes;
};

struct Comparison {
  std::string name;  // of the runs; empty for windows without a command
  std::string base_title;
  std::string new_title;
  size_t base_runs = 0;  // that are compared
  size_t new_runs = 0;
  uint64_t base_ns = 0;  // median length of a run
  uint64_t new_ns = 0;
  Finding finding = Finding::kNotComparable;
  std::string sentence;  // after the finding: in which outcomes, by how much
  std::string cause;     // of worse or better; empty if not known
  Grounds grounds;
  // Empty when the sides are not comparable, unless it was forced.
  std::vector<ComparedSubject> subjects;
  std::vector<std::string> remarks;
  bool forced = false;  // shown though not comparable; nothing was judged
};

struct CompareRules {
  // Shows what is not comparable nevertheless.
  bool force = false;
  // Names of settings in which the sides may differ: what is compared.
  std::set<std::string> may_differ;
};
Comparison Compare(const Arms& arms, const CompareRules& rules);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_H_
