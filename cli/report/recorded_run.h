// A run as the report and the comparison see it: everything that record files
// say of it, merged.
//
// Windows outside any run (`swaplock-agent --record`, a phone's file) make one
// run per host and boot, without a command. A run counts each window once, be
// it in several files, so merged files read as the files they were merged from.
// A run that has records in several files has its begin in each of them.
//
// Their texts are harmless to print (cli/report/plain_record).
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_CLI_REPORT_RECORDED_RUN_H_
#define SWAPLOCK_CLI_REPORT_RECORDED_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/cell.h"
#include "common/context.h"
#include "common/run.h"
#include "common/window.h"

namespace swaplock {

// A long hold and the cell that it was of.
struct RecordedHold {
  Hold hold;  // hold.cell means nothing here
  CellKey key;
  uint64_t end_unix_ns = 0;  // of its window
};

struct RecordedRun {
  // For a run without a command: name is the host's id, id and command are
  // empty, and the times and the environment are those of the first window.
  RunBegin begin;
  // Nothing: it has no command, or was cut short.
  std::optional<RunEnd> end;
  std::vector<std::string> files;  // that had records of it

  uint64_t windows = 0;
  uint64_t missing_windows = 0;  // gaps in their sequence numbers
  uint64_t measured_ns = 0;      // sum of the windows' lengths
  std::map<CellKey, Cell> cells;
  std::vector<RecordedHold> longest;  // longest first; at most kLongestKept
  // That lasted on when its last window ended; in no cell.
  std::vector<RecordedHold> in_progress;
  std::map<LossReason, uint64_t> losses;
  Coverage coverage;              // of the last window
  bool coverage_changed = false;  // windows differed in what they could see
  Context context;                // counters: sums; gauges, facts: the last
  uint64_t agent_cpu_ns = 0;
  uint64_t agent_rss_bytes = 0;  // largest
  uint32_t timing_shift = 0;     // largest: one hold in 2^this was timed
  uint32_t null_hold_ns = 0;     // of the last window; 0: not known

  bool HasCommand() const { return !begin.command.empty(); }
  // Begun by a command and never ended.
  bool CutShort() const { return HasCommand() && !end.has_value(); }
  // How long the command ran if it ended, else how long it was measured.
  uint64_t duration_ns() const;
};

inline constexpr size_t kLongestKept = 64;

// What reading files came to.
struct Recordings {
  std::vector<RecordedRun> runs;  // in the order of their begins in the files
  // One sentence for each thing that a reader should know: a torn tail, a file
  // without windows, a damaged record after which nothing more was read.
  std::vector<std::string> remarks;
};

// Fails with the first file that cannot be read at all: NotFound,
// FailedPrecondition for one that is no record file or of another format,
// DataLoss for one whose first record is damaged. What stands before later
// damage is used, with a remark.
absl::StatusOr<Recordings> ReadRecordings(absl::Span<const std::string> paths);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_RECORDED_RUN_H_
