// The ledger's tables on SQLite, version kSchemaVersion.
//
// Numbers of a host and of a cohort are sums that rows of a batch add to
// (count = count + excluded.count), so nothing is read to be written back. A
// table keyed by host has host_id first in its key, which is what a database
// sharded by host needs.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_SCHEMA_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_SCHEMA_H_

#include <iterator>

namespace swaplock {

inline constexpr int kSchemaVersion = 5;

inline constexpr char kSchema[] = R"sql(
-- Every window ever merged. What a row stands for is never merged again: the
-- sequence numbers from seq - merged, exclusively, to seq. Rows of an epoch do
-- not overlap, and two that meet become one: a host's windows take a row per
-- start of its agent and gap, however many they are.
CREATE TABLE windows (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  day INTEGER NOT NULL,  -- of the last one that came, since 1970 UTC
  merged INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (host_id, boot_id, epoch, seq)
) WITHOUT ROWID;

CREATE TABLE hosts (
  host_id TEXT NOT NULL PRIMARY KEY,
  last_seen_unix_ns INTEGER NOT NULL,
  -- The last window without its cells and holds: environment and coverage.
  last_window BLOB NOT NULL,
  windows INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  missing INTEGER NOT NULL,
  agent_cpu_ns INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE host_losses (
  host_id TEXT NOT NULL,
  reason INTEGER NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (host_id, reason)
) WITHOUT ROWID;

-- The evidence for verdicts.
CREATE TABLE host_days (
  host_id TEXT NOT NULL,
  kernel_release TEXT NOT NULL,
  day INTEGER NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  latency_tier INTEGER NOT NULL,  -- of whole operations, or 0
  fingerprint INTEGER NOT NULL,  -- of the last window's coverage
  acquisitions INTEGER NOT NULL,
  contended INTEGER NOT NULL,
  waits_over_1ms INTEGER NOT NULL,
  waits_over_10ms INTEGER NOT NULL,
  waits_over_100ms INTEGER NOT NULL,
  wait_ns INTEGER NOT NULL,
  hold_ns INTEGER NOT NULL,
  runnable_ns INTEGER NOT NULL,
  blocked_ns INTEGER NOT NULL,
  on_cpu_ns INTEGER NOT NULL,
  unknown_ns INTEGER NOT NULL,
  longest_wait_ns INTEGER NOT NULL,
  longest_hold_ns INTEGER NOT NULL,
  longest_runnable_ns INTEGER NOT NULL,
  timed_operations INTEGER NOT NULL,
  slow_operations INTEGER NOT NULL,  -- over 10 ms
  -- Windows and devices with waits over 10 ms; 0 with waits: not known.
  episodes_over_10ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (host_id, kernel_release, day, subsystem, operation, role, mode,
               algorithm, lock_model, hold_tier, wait_tier, latency_tier)
) WITHOUT ROWID;

-- How much of each day was measured, and how much of that was lost.
CREATE TABLE host_kernel_days (
  host_id TEXT NOT NULL,
  kernel_release TEXT NOT NULL,
  kernel_build TEXT NOT NULL,
  day INTEGER NOT NULL,
  windows INTEGER NOT NULL,
  covered_ns INTEGER NOT NULL,  -- without the time suspended
  events_lost INTEGER NOT NULL,
  PRIMARY KEY (host_id, kernel_release, kernel_build, day)
) WITHOUT ROWID;

CREATE TABLE host_boots (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  kernel_release TEXT NOT NULL,
  kernel_build TEXT NOT NULL,
  boot_day INTEGER NOT NULL,
  last_day INTEGER NOT NULL,  -- that a window came
  -- A window with nothing but its environment and the facts of its context, as
  -- they were last said.
  facts BLOB NOT NULL,
  PRIMARY KEY (host_id, boot_id)
) WITHOUT ROWID;

-- Holds of more than 10 ms that went on when the newest window of an epoch
-- ended. What is here of a day that is over was never seen to end.
CREATE TABLE host_open_holds (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,  -- among the window's holds in progress
  kernel_release TEXT NOT NULL,
  day INTEGER NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  PRIMARY KEY (host_id, boot_id, epoch, seq, position)
) WITHOUT ROWID;

-- Hosts that are set aside, or were not long ago (admission/quarantine.h).
CREATE TABLE host_quarantine (
  host_id TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  since_unix_ns INTEGER NOT NULL,
  until_unix_ns INTEGER NOT NULL,
  refused INTEGER NOT NULL,  -- windows, ever
  times INTEGER NOT NULL  -- set aside
) WITHOUT ROWID;

-- The longest holds of each day; others are not kept.
CREATE TABLE top_holds (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,  -- among the window's top holds
  day INTEGER NOT NULL,
  hold_ns INTEGER NOT NULL,
  end_unix_ns INTEGER NOT NULL,
  -- The window with nothing but this hold and the key of its cell.
  window BLOB NOT NULL,
  PRIMARY KEY (host_id, boot_id, epoch, seq, position)
) WITHOUT ROWID;
CREATE INDEX top_holds_by_length ON top_holds (day, hold_ns);

CREATE TABLE cohorts (
  kernel_release TEXT NOT NULL,
  preempt TEXT NOT NULL,
  windows INTEGER NOT NULL,
  PRIMARY KEY (kernel_release, preempt)
) WITHOUT ROWID;

CREATE TABLE cohort_cells (
  id INTEGER PRIMARY KEY,
  kernel_release TEXT NOT NULL,
  preempt TEXT NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  latency_tier INTEGER NOT NULL,
  acquisitions INTEGER NOT NULL,
  contended INTEGER NOT NULL,
  on_cpu_ns INTEGER NOT NULL,
  unknown_ns INTEGER NOT NULL,
  waits_owner_running INTEGER NOT NULL,
  waits_owner_runnable INTEGER NOT NULL,
  waits_owner_blocked INTEGER NOT NULL,
  wait_owner_runnable_ns INTEGER NOT NULL,
  inversions INTEGER NOT NULL,
  preempted_ns INTEGER NOT NULL,  -- this and the next two: of runnable
  woken_ns INTEGER NOT NULL,
  throttled_ns INTEGER NOT NULL,
  migrations INTEGER NOT NULL,
  UNIQUE (kernel_release, preempt, subsystem, operation, role, mode, algorithm,
          lock_model, hold_tier, wait_tier, latency_tier)
);

CREATE TABLE cohort_distributions (
  cell_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,  -- 0 wait, 1 hold, 2 runnable, 3 blocked, 4 latency
  sum_ns INTEGER NOT NULL,
  max_ns INTEGER NOT NULL,
  over_1ms INTEGER NOT NULL,
  over_10ms INTEGER NOT NULL,
  over_100ms INTEGER NOT NULL,
  PRIMARY KEY (cell_id, kind)
) WITHOUT ROWID;

CREATE TABLE cohort_buckets (
  cell_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  bucket INTEGER NOT NULL,  -- of common/histogram.h
  count INTEGER NOT NULL,
  PRIMARY KEY (cell_id, kind, bucket)
) WITHOUT ROWID;

CREATE TABLE cohort_longest (
  cell_id INTEGER NOT NULL,
  hour INTEGER NOT NULL,  -- since 1970 UTC
  wait_ns INTEGER NOT NULL,
  hold_ns INTEGER NOT NULL,
  hold_runnable_ns INTEGER,  -- of that hold; null if unknown
  PRIMARY KEY (cell_id, hour)
) WITHOUT ROWID;

-- The verdicts. A subject is a kernel pair, an operation and an outcome.
CREATE TABLE verdict_evaluations (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  last_day INTEGER NOT NULL,  -- of the rows, since 1970 UTC
  judged_unix_ns INTEGER NOT NULL,
  evaluation BLOB NOT NULL  -- VerdictEvaluation of proto/verdict.proto
);

CREATE TABLE verdicts (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  version INTEGER NOT NULL,  -- the newest
  first_judged_unix_ns INTEGER NOT NULL,
  since_unix_ns INTEGER NOT NULL,
  judged_unix_ns INTEGER NOT NULL,
  last_day INTEGER NOT NULL,
  went_away TEXT NOT NULL,
  incident INTEGER NOT NULL,
  -- What a person said of it.
  state INTEGER NOT NULL,
  state_by TEXT NOT NULL,
  state_reason TEXT NOT NULL,
  state_unix_ns INTEGER NOT NULL,
  state_until_unix_ns INTEGER NOT NULL,
  UNIQUE (kernel_base, kernel_new, subsystem, operation, outcome)
);

CREATE TABLE verdict_versions (
  verdict_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  evaluation_id INTEGER NOT NULL,
  record BLOB NOT NULL,  -- VerdictRecord of proto/verdict.proto
  PRIMARY KEY (verdict_id, version)
) WITHOUT ROWID;

CREATE TABLE verdict_incidents (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  opened_unix_ns INTEGER NOT NULL,
  closed_unix_ns INTEGER NOT NULL,  -- the largest there is while it is open
  sentence TEXT NOT NULL
);

CREATE TABLE verdict_self_tests (
  last_day INTEGER NOT NULL PRIMARY KEY,
  report BLOB NOT NULL  -- SelfTestReport of proto/verdict.proto
);
)sql";

// kMigrations[i] makes a ledger of version i + 1 one of version i + 2. They are
// history: they spell out their tables, and never change.
inline constexpr const char* kMigrations[] = {
    // 2: what the runnable part is made of, migrations, and the latency of
    // operations, whose tier is part of a cell's key. What was counted before
    // has none of it.
    R"sql(
ALTER TABLE cohort_cells RENAME TO cohort_cells_of_1;
CREATE TABLE cohort_cells (
  id INTEGER PRIMARY KEY,
  kernel_release TEXT NOT NULL,
  preempt TEXT NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  latency_tier INTEGER NOT NULL,
  acquisitions INTEGER NOT NULL,
  contended INTEGER NOT NULL,
  on_cpu_ns INTEGER NOT NULL,
  unknown_ns INTEGER NOT NULL,
  waits_owner_running INTEGER NOT NULL,
  waits_owner_runnable INTEGER NOT NULL,
  waits_owner_blocked INTEGER NOT NULL,
  wait_owner_runnable_ns INTEGER NOT NULL,
  inversions INTEGER NOT NULL,
  preempted_ns INTEGER NOT NULL,
  woken_ns INTEGER NOT NULL,
  throttled_ns INTEGER NOT NULL,
  migrations INTEGER NOT NULL,
  UNIQUE (kernel_release, preempt, subsystem, operation, role, mode, algorithm,
          lock_model, hold_tier, wait_tier, latency_tier)
);
INSERT INTO cohort_cells
  SELECT id, kernel_release, preempt, subsystem, operation, role, mode,
         algorithm, lock_model, hold_tier, wait_tier, 0, acquisitions,
         contended, on_cpu_ns, unknown_ns, waits_owner_running,
         waits_owner_runnable, waits_owner_blocked, wait_owner_runnable_ns,
         inversions, 0, 0, 0, 0
  FROM cohort_cells_of_1;
DROP TABLE cohort_cells_of_1;
)sql",
    // 3: for how many sequence numbers a window stands. Of those that are there
    // it is not known; all but those of a full spool stand for one.
    R"sql(
ALTER TABLE windows ADD COLUMN merged INTEGER NOT NULL DEFAULT 1;
)sql",
    // 4: what verdicts are made of, and the verdicts. What hosts counted before
    // stays, but of which part of a day is not known, so no verdict rests on
    // it.
    R"sql(
ALTER TABLE host_days RENAME TO host_days_of_3;
CREATE TABLE host_days (
  host_id TEXT NOT NULL,
  kernel_release TEXT NOT NULL,
  day INTEGER NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  latency_tier INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  acquisitions INTEGER NOT NULL,
  contended INTEGER NOT NULL,
  waits_over_1ms INTEGER NOT NULL,
  waits_over_10ms INTEGER NOT NULL,
  waits_over_100ms INTEGER NOT NULL,
  wait_ns INTEGER NOT NULL,
  hold_ns INTEGER NOT NULL,
  runnable_ns INTEGER NOT NULL,
  blocked_ns INTEGER NOT NULL,
  on_cpu_ns INTEGER NOT NULL,
  unknown_ns INTEGER NOT NULL,
  longest_wait_ns INTEGER NOT NULL,
  longest_hold_ns INTEGER NOT NULL,
  longest_runnable_ns INTEGER NOT NULL,
  timed_operations INTEGER NOT NULL,
  slow_operations INTEGER NOT NULL,
  PRIMARY KEY (host_id, kernel_release, day, subsystem, operation, role, mode,
               algorithm, lock_model, hold_tier, wait_tier, latency_tier)
) WITHOUT ROWID;
INSERT INTO host_days
  SELECT host_id, kernel_release, day, subsystem, operation, role, mode,
         algorithm, lock_model, hold_tier, wait_tier, 0, fingerprint,
         acquisitions, contended, waits_over_1ms, waits_over_10ms,
         waits_over_100ms,
         wait_ns, hold_ns, runnable_ns, blocked_ns, on_cpu_ns, unknown_ns,
         longest_wait_ns, longest_hold_ns, longest_runnable_ns, 0, 0
  FROM host_days_of_3;
DROP TABLE host_days_of_3;
CREATE TABLE host_kernel_days (
  host_id TEXT NOT NULL,
  kernel_release TEXT NOT NULL,
  kernel_build TEXT NOT NULL,
  day INTEGER NOT NULL,
  windows INTEGER NOT NULL,
  covered_ns INTEGER NOT NULL,
  events_lost INTEGER NOT NULL,
  PRIMARY KEY (host_id, kernel_release, kernel_build, day)
) WITHOUT ROWID;
CREATE TABLE host_boots (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  kernel_release TEXT NOT NULL,
  kernel_build TEXT NOT NULL,
  boot_day INTEGER NOT NULL,
  last_day INTEGER NOT NULL,
  facts BLOB NOT NULL,
  PRIMARY KEY (host_id, boot_id)
) WITHOUT ROWID;
CREATE TABLE host_open_holds (
  host_id TEXT NOT NULL,
  boot_id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kernel_release TEXT NOT NULL,
  day INTEGER NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  role INTEGER NOT NULL,
  lock_model INTEGER NOT NULL,
  hold_tier INTEGER NOT NULL,
  wait_tier INTEGER NOT NULL,
  PRIMARY KEY (host_id, boot_id, epoch, seq, position)
) WITHOUT ROWID;
CREATE TABLE verdict_evaluations (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  last_day INTEGER NOT NULL,
  judged_unix_ns INTEGER NOT NULL,
  evaluation BLOB NOT NULL
);
CREATE TABLE verdicts (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  subsystem INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  version INTEGER NOT NULL,
  first_judged_unix_ns INTEGER NOT NULL,
  since_unix_ns INTEGER NOT NULL,
  judged_unix_ns INTEGER NOT NULL,
  last_day INTEGER NOT NULL,
  went_away TEXT NOT NULL,
  incident INTEGER NOT NULL,
  state INTEGER NOT NULL,
  state_by TEXT NOT NULL,
  state_reason TEXT NOT NULL,
  state_unix_ns INTEGER NOT NULL,
  state_until_unix_ns INTEGER NOT NULL,
  UNIQUE (kernel_base, kernel_new, subsystem, operation, outcome)
);
CREATE TABLE verdict_versions (
  verdict_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  evaluation_id INTEGER NOT NULL,
  record BLOB NOT NULL,
  PRIMARY KEY (verdict_id, version)
) WITHOUT ROWID;
CREATE TABLE verdict_incidents (
  id INTEGER PRIMARY KEY,
  kernel_base TEXT NOT NULL,
  kernel_new TEXT NOT NULL,
  opened_unix_ns INTEGER NOT NULL,
  closed_unix_ns INTEGER NOT NULL,
  sentence TEXT NOT NULL
);
CREATE TABLE verdict_self_tests (
  last_day INTEGER NOT NULL PRIMARY KEY,
  report BLOB NOT NULL
);
)sql",
    // 5: episodes of long waits, of what was counted before not known; the
    // quarantine.
    R"sql(
ALTER TABLE host_days ADD COLUMN episodes_over_10ms INTEGER NOT NULL DEFAULT 0;
CREATE TABLE host_quarantine (
  host_id TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  since_unix_ns INTEGER NOT NULL,
  until_unix_ns INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  times INTEGER NOT NULL
) WITHOUT ROWID;
)sql",
};
static_assert(std::size(kMigrations) == kSchemaVersion - 1);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_SCHEMA_H_
