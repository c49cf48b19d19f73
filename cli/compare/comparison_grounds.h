// What the runs of a comparison were made under: what both sides have in
// common, in what they differ, and whether they may be compared at all.
//
// Pure functions; the order of the runs does not matter.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_GROUNDS_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_GROUNDS_H_

#include <set>
#include <string>
#include <vector>

#include "cli/compare/comparison_arms.h"

namespace swaplock {

// One thing that runs were made under; empty where it is not known.
struct Setting {
  std::string name;  // "kernel", "CPUs"
  std::string base;
  std::string newer;

  bool Same() const { return base == newer; }
};

struct Grounds {
  // In the order in which they are printed.
  std::vector<Setting> settings;
  // The workload's own, as it says it was set up.
  std::vector<Setting> workload;
  // What differs beside the kernel and the variant, as far as the agent sees:
  // build options, sysctls, agent. A verdict is on all of them together.
  std::vector<Setting> changed_too;
  // One sentence each; nothing if the sides may be compared.
  std::vector<std::string> refusals;
};

// Sides differ in kernel, variant, preemption and what comes with them. They
// may not differ in how the workload says it was set up (where it says nothing,
// in the command; its seed and a holder that it slows on purpose aside), in
// architecture, CPUs, memory (by more than a tenth), codec, swap back end or
// vm.page-cluster, nor may the runs of one side among themselves. What a side
// does not know is not held against it, and settings of the names in
// `may_differ` only have to be one on each side.
Grounds GroundsOf(const Runs& base, const Runs& newer,
                  const std::set<std::string>& may_differ);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_GROUNDS_H_
