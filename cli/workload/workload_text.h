// What a workload measured, for people, and what it was, for the record.
//
// Thread-safe: no state.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TEXT_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TEXT_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "cli/workload/workload_options.h"
#include "cli/workload/workload_tasks.h"

namespace swaplock {

// How it was set up, by name: the same for runs that may be compared. The
// options' defaults are filled in.
std::map<std::string, std::string> WorkloadFacts(const WorkloadOptions& options,
                                                 absl::string_view codec,
                                                 int cpus);

// A line on the set-up and a table of what was measured.
std::string WorkloadText(const std::map<std::string, std::string>& facts,
                         const TaskOutcome& outcome);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TEXT_H_
