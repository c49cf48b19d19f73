// Records runs: lets a held command begin when the windows' edge is made, hands
// every record on as it comes, and closes the run with what became of the
// command.
//
// One thread. All objects that it is given outlive it.
#ifndef SWAPLOCK_CLI_RECORD_RUN_RECORDER_H_
#define SWAPLOCK_CLI_RECORD_RUN_RECORDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/cut_event.h"
#include "agent/window_source.h"
#include "cli/record/command_signals.h"
#include "cli/record/held_command.h"
#include "cli/record/run_totals.h"
#include "common/clock.h"
#include "common/record_file.h"

namespace swaplock {

// What became of a run.
struct RunOutcome {
  RunEnd end;
  RunTotals totals;
  absl::Duration length;       // of the command
  uint64_t windows_lost = 0;   // measured, but not written
  absl::Status write_error;    // the first one
  absl::Status measure_error;  // why measuring ended before the command did
};

class RunRecorder {
 public:
  using Append = std::function<absl::Status(const Record&)>;
  // Called after each window of a run.
  using Progress = std::function<void(const RunTotals&, absl::Duration)>;

  // `source` ends its window when `cut` is requested, and `signals` requests it
  // of the same.
  RunRecorder(WindowSource* source, const CutEvent* cut,
              const CommandSignals* signals, Append append, Progress progress,
              Clock clock = {});

  // The window that ends now; what was measured up to here is of no run. Its
  // coverage says what can be measured, its environment where.
  absl::StatusOr<Window> NextEdge();

  // `begin` has all but its times, environment, host and boot, which come from
  // the windows. `command` is held; `result_path` is where it may have written
  // a RunResult as JSON by its end.
  //
  // Fails, and the command never begins, when there is no edge to begin at
  // (Unavailable), the begin cannot be written, or a stop was asked for
  // (Cancelled). Once the
  // command has begun, whatever fails is in the outcome.
  absl::StatusOr<RunOutcome> Record(RunBegin begin, HeldCommand* command,
                                    const std::string& result_path);

 private:
  // The source's next window, with all that is known of its context.
  absl::StatusOr<Window> Next();
  void Write(const Window& window, RunOutcome* outcome);
  // Up to the command's end.
  void WriteWindows(HeldCommand* command, RunOutcome* outcome);

  WindowSource* const source_;
  const CutEvent* const cut_;
  const CommandSignals* const signals_;
  const Append append_;
  const Progress progress_;
  const Clock clock_;
  uint64_t begin_ns_ = 0;     // CLOCK_BOOTTIME, of the run
  Context known_;             // up to the source's last window
  bool passed_over_ = false;  // windows since the last that was written
};

// What `path` has, and nothing when there is no such file. InvalidArgument when
// it has something else than a RunResult in JSON of at most 4 MiB.
absl::StatusOr<RunResult> ReadResultFile(const std::string& path);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_RUN_RECORDER_H_
