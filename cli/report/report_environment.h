// What the numbers of a report were measured on and how: the lines above its
// tables, without which nobody can judge them.
//
// Pure functions.
#ifndef SWAPLOCK_CLI_REPORT_REPORT_ENVIRONMENT_H_
#define SWAPLOCK_CLI_REPORT_REPORT_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "cli/report/recorded_run.h"
#include "cli/report/run_statistics.h"

namespace swaplock {

// A label, "kernel", and a text without line breaks. What runs of the group
// differ in is given for each value once. Labels come more than once where
// there are several sentences.
using EnvironmentLines = std::vector<std::pair<std::string, std::string>>;
EnvironmentLines EnvironmentOf(const RunGroup& group);

// "zram-inversion, patched, run 3"; of several runs without the last.
std::string GroupTitle(const RunGroup& group);

// What is wrong with how a run ended or was recorded, in one sentence; empty if
// nothing is.
std::string TroubleOf(const RecordedRun& run);

// What only one has: "exit status 0", "ended by signal 9", "cut short".
std::string EndOf(const RecordedRun& run);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_REPORT_ENVIRONMENT_H_
