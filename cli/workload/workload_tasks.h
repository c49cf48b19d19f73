// The tasks of a workload: processes at nice values of their own that begin
// together, measure their operations each for itself, and end together at the
// deadline or by a signal.
//
// Processes and not threads, as in the tests that the kernel lists saw: threads
// would share an address space, and paging out would interrupt all of them.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TASKS_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TASKS_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/run.h"

namespace swaplock {

// While it lives, SIGINT, SIGTERM and SIGHUP are blocked in this thread and
// wait here, so that nothing is left half done by them; SIGCHLD too. Children
// inherit that: only this process decides when they end.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits up to `timeout` for a signal. SIGCHLD is returned and forgotten.
  int Wait(absl::Duration timeout);
  // The signal that asked to stop; 0: none yet.
  int Asked();

 private:
  sigset_t set_;
  sigset_t before_;
  int asked_ = 0;
};

// How many kinds of operations a task may measure.
inline constexpr size_t kMeasuredPerTask = 2;

struct TaskSlot;
struct TaskBoard;

// What a task sees of the run; used in its own process.
class Task {
 public:
  // From 0, over all groups in their order.
  size_t index() const { return index_; }

  // Waits until every task is here. False: the run was called off. Once, when
  // all is prepared.
  bool AwaitStart();
  // Whether the run is over: the deadline passed, or it was ended early.
  bool Over() const;
  // Sleeps, but not much past the end of the run.
  void Sleep(absl::Duration duration) const;
  // Counts an operation of `ns` under the `which`th name of the group.
  void Add(size_t which, uint64_t ns);
  // The process of another task; after AwaitStart.
  pid_t ProcessOf(size_t index) const;

  // CLOCK_MONOTONIC.
  static uint64_t NowNs();

 private:
  friend class TaskRun;
  TaskBoard* board_ = nullptr;
  TaskSlot* slot_ = nullptr;
  size_t index_ = 0;
  int nice_ = 0;
  int ready_fd_ = -1;
  int go_fd_ = -1;
};

struct TaskGroup {
  std::string name;  // "reader": what the kernel calls its tasks, 15 bytes
  int count = 0;
  int nice = 0;
  std::vector<std::string> measured;  // at most kMeasuredPerTask names
  // Prepares, awaits the start, works until the run is over. An error ends the
  // run; its text says what could not be done.
  std::function<absl::Status(Task& task)> work;
};

struct TaskOutcome {
  // One for each measured name, in the order of the groups; groups that
  // measure under the same name have one in common.
  std::vector<Measurement> measurements;
  absl::Duration ran;  // from the start together to the last task's end
  int signal = 0;      // that ended it early; 0: none
};

// Runs them all for `duration`. Fails with the first error of a task, if a task
// was killed, or if one does not end (then it is killed); no task is left
// behind. The caller has no other threads.
absl::StatusOr<TaskOutcome> RunTasks(absl::Span<const TaskGroup> groups,
                                     absl::Duration duration,
                                     StopSignals& signals);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_TASKS_H_
