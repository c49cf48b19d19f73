// What the tasks of a workload do: the groups that RunTasks runs, low-priority
// workers first, then hogs, then high-priority readers.
//
// Thread-safe: no state.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_ROLES_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_ROLES_H_

#include <vector>

#include "absl/status/status.h"
#include "cli/workload/workload_options.h"
#include "cli/workload/workload_setup.h"
#include "cli/workload/workload_tasks.h"

namespace swaplock {

// Of the mails' tests.
inline constexpr int kZswapWorkerNice = 10;
inline constexpr int kZramWorkerNice = 19;
inline constexpr int kHogNice = 0;
inline constexpr int kReaderNice = -19;

inline int WorkerNice(WorkloadKind kind) {
  return kind == WorkloadKind::kZswapInversion ? kZswapWorkerNice
                                               : kZramWorkerNice;
}

// Writes the data that is read and overwritten.
absl::Status FillZram(const WorkloadOptions& options, const ZramForRun& zram,
                      StopSignals& signals);

// The options' defaults are filled in.
std::vector<TaskGroup> ZramRoles(const WorkloadOptions& options,
                                 const ZramForRun& zram);
std::vector<TaskGroup> ZswapRoles(const WorkloadOptions& options);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_ROLES_H_
