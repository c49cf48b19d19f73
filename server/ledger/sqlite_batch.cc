#include "server/ledger/sqlite_batch.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace swaplock {
namespace {

// The window without its cells and holds.
std::string HeaderOf(const Window& window) {
  Window header;
  header.key = window.key;
  header.start_boottime_ns = window.start_boottime_ns;
  header.end_boottime_ns = window.end_boottime_ns;
  header.end_unix_ns = window.end_unix_ns;
  header.environment = window.environment;
  header.coverage = window.coverage;
  return Serialize(header);
}

// The window with nothing but one hold and its cell's key.
std::string HoldAlone(const Window& window, const Hold& hold) {
  Window alone;
  alone.key = window.key;
  alone.start_boottime_ns = window.start_boottime_ns;
  alone.end_boottime_ns = window.end_boottime_ns;
  alone.end_unix_ns = window.end_unix_ns;
  alone.environment.kernel_release = window.environment.kernel_release;
  alone.cells.emplace_back();
  alone.cells[0].key = window.cells[hold.cell].key;
  alone.top_holds.push_back(hold);
  alone.top_holds[0].cell = 0;
  return Serialize(alone);
}

constexpr uint64_t kLongHoldNs = 10'000'000;

// Events of the locks that were not counted as they should have been. The
// others cost details of what was counted.
uint64_t EventsLost(const Window& window) {
  uint64_t lost = 0;
  for (const auto& [reason, events] : window.losses) {
    const bool detail = reason == LossReason::kTopRingFull ||
                        reason == LossReason::kUnstableSnapshot;
    if (!detail) lost += events;
  }
  return lost;
}

bool AllZero(const Distribution& d) {
  return d.sum_ns == 0 && d.max_ns == 0 && d.over_1ms == 0 &&
         d.over_10ms == 0 && d.over_100ms == 0 && d.Count() == 0;
}

}  // namespace

void SqliteBatch::HostDay::Add(const Cell& cell) {
  acquisitions += cell.acquisitions;
  contended += cell.contended;
  waits_over_1ms += cell.wait.over_1ms;
  waits_over_10ms += cell.wait.over_10ms;
  waits_over_100ms += cell.wait.over_100ms;
  wait_ns += cell.wait.sum_ns;
  hold_ns += cell.hold.sum_ns;
  runnable_ns += cell.runnable.sum_ns;
  blocked_ns += cell.blocked.sum_ns;
  on_cpu_ns += cell.on_cpu_ns;
  unknown_ns += cell.unknown_ns;
  longest_wait_ns = std::max(longest_wait_ns, cell.wait.max_ns);
  longest_hold_ns = std::max(longest_hold_ns, cell.hold.max_ns);
  longest_runnable_ns = std::max(longest_runnable_ns, cell.runnable.max_ns);
  timed_operations += cell.latency.Count();
  slow_operations += cell.latency.over_10ms;
  episodes_over_10ms += cell.wait.over_10ms > 0;
}

// How many of the sequence numbers (after, seq] are known. Rows do not overlap,
// so of those behind `seq` only the next one can reach back to it.
absl::StatusOr<uint64_t> SqliteBatch::KnownOf(const WindowKey& key,
                                              uint64_t after) {
  Query known = database_->Prepare(
      "SELECT sum(min(seq, ?5) - max(seq - merged, ?4)) FROM windows"
      " WHERE host_id = ?1 AND boot_id = ?2 AND epoch = ?3 AND seq > ?4"
      " AND seq - merged < ?5 AND seq <= coalesce("
      "  (SELECT min(seq) FROM windows WHERE host_id = ?1 AND boot_id = ?2"
      "   AND epoch = ?3 AND seq >= ?5), ?5)");
  absl::StatusOr<bool> row =
      known.Bind(key.host_id, Blob{key.boot_id}, key.epoch, after, key.seq)
          .Step();
  if (!row.ok()) return row.status();
  return known.Unsigned(0);  // 0 when there is none
}

absl::StatusOr<Outcome> SqliteBatch::InsertKey(const Window& window,
                                               int64_t day) {
  const WindowKey& key = window.key;
  // A window merged from several stands for the numbers before its own, too.
  const uint64_t stands_for =
      std::clamp<uint64_t>(window.merged, 1, std::max<uint64_t>(1, key.seq));
  absl::StatusOr<uint64_t> known = KnownOf(key, key.seq - stands_for);
  if (!known.ok()) return known.status();
  Outcome outcome;
  outcome.duplicate = *known > 0;
  if (*known > 0 && *known < stands_for) {
    // Never twice: it cannot be taken apart. The numbers that are not known are
    // missing when the next window comes. No agent makes such a window, unless
    // its spool was copied or put back to an earlier state.
    static LogSite site(absl::Minutes(1));
    site.Log(LogLevel::kError,
             absl::StrCat("ledger: window ", key.seq, " of epoch ", key.epoch,
                          " stands for ", stands_for, " windows, of which ",
                          *known, " are known: nothing of it was added"));
  }
  if (outcome.duplicate) return outcome;

  Query last = database_->Prepare(
      "SELECT max(seq) FROM windows"
      " WHERE host_id = ?1 AND boot_id = ?2 AND epoch = ?3");
  absl::StatusOr<bool> row =
      last.Bind(key.host_id, Blob{key.boot_id}, key.epoch).Step();
  if (!row.ok()) return row.status();
  const uint64_t last_seq = last.Unsigned(0);  // 0 when there is none
  // One that arrives late was counted as missing when it was skipped.
  if (key.seq > last_seq + stands_for) {
    outcome.missing = key.seq - last_seq - stands_for;
  }
  if (absl::Status s = WriteRange(key, day, stands_for); !s.ok()) return s;
  return outcome;
}

absl::Status SqliteBatch::WriteRange(const WindowKey& key, int64_t day,
                                     uint64_t stands_for) {
  // The row that ends where this one begins, and the one that begins where it
  // ends, become one with it: an epoch without gaps is one row.
  Query before = database_->Prepare(
      "DELETE FROM windows WHERE host_id = ?1 AND boot_id = ?2 AND epoch = ?3"
      " AND seq = ?4 RETURNING merged");
  absl::StatusOr<bool> row =
      before
          .Bind(key.host_id, Blob{key.boot_id}, key.epoch, key.seq - stands_for)
          .Step();
  if (!row.ok()) return row.status();
  uint64_t merged = stands_for + (*row ? before.Unsigned(0) : 0);
  uint64_t seq = key.seq;
  Query after = database_->Prepare(
      "DELETE FROM windows WHERE host_id = ?1 AND boot_id = ?2 AND epoch = ?3"
      " AND seq = (SELECT min(seq) FROM windows WHERE host_id = ?1 AND"
      "  boot_id = ?2 AND epoch = ?3 AND seq > ?4)"
      " AND seq - merged = ?4 RETURNING seq, merged");
  row = after.Bind(key.host_id, Blob{key.boot_id}, key.epoch, key.seq).Step();
  if (!row.ok()) return row.status();
  if (*row) {
    seq = after.Unsigned(0);
    merged += after.Unsigned(1);
  }
  Query insert =
      database_->Prepare("INSERT INTO windows VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  return insert
      .Bind(key.host_id, Blob{key.boot_id}, key.epoch, seq, day, merged)
      .Run();
}

absl::Status SqliteBatch::UpsertHost(const Window& window,
                                     const Outcome& outcome,
                                     uint64_t counted_unix_ns) {
  Query host = database_->Prepare(
      "INSERT INTO hosts AS h VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
      " ON CONFLICT DO UPDATE SET"
      " last_window = CASE WHEN excluded.last_seen_unix_ns >="
      "   h.last_seen_unix_ns THEN excluded.last_window"
      "   ELSE h.last_window END,"
      " last_seen_unix_ns ="
      "   max(h.last_seen_unix_ns, excluded.last_seen_unix_ns),"
      " windows = h.windows + excluded.windows,"
      " duplicates = h.duplicates + excluded.duplicates,"
      " missing = h.missing + excluded.missing,"
      " agent_cpu_ns = h.agent_cpu_ns + excluded.agent_cpu_ns");
  const bool duplicate = outcome.duplicate;
  const std::string header = HeaderOf(window);
  host.Bind(window.key.host_id, duplicate ? 0 : counted_unix_ns, Blob{header},
            duplicate ? 0 : 1, duplicate ? 1 : 0, outcome.missing,
            duplicate ? 0 : window.overhead.agent_cpu_ns);
  if (absl::Status s = host.Run(); !s.ok() || duplicate) return s;
  for (const auto& [reason, events] : window.losses) {
    Query loss = database_->Prepare(
        "INSERT INTO host_losses AS l VALUES (?1, ?2, ?3)"
        " ON CONFLICT DO UPDATE SET events = l.events + excluded.events");
    loss.Bind(window.key.host_id, reason, events);
    if (absl::Status s = loss.Run(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status SqliteBatch::FindLastTopHold(int64_t day) {
  Query find = database_->Prepare(
      "SELECT hold_ns, end_unix_ns, host_id FROM top_holds WHERE day = ?1"
      " ORDER BY hold_ns DESC, end_unix_ns, host_id LIMIT 1 OFFSET ?2");
  absl::StatusOr<bool> row = find.Bind(day, kTopHoldsPerDay - 1).Step();
  if (!row.ok()) return row.status();
  LastTopHold& last = last_top_holds_[day];
  if (*row) last = {find.Unsigned(0), find.Int(1), find.Text(2)};
  return absl::OkStatus();
}

absl::Status SqliteBatch::InsertTopHolds(const Window& window,
                                         absl::Time counted_at) {
  if (window.top_holds.empty()) return absl::OkStatus();
  const int64_t day = DayOf(counted_at);
  const int64_t end_unix_ns = absl::ToUnixNanos(counted_at);
  if (last_top_holds_.count(day) == 0) {
    if (absl::Status s = FindLastTopHold(day); !s.ok()) return s;
  }
  const LastTopHold& last = last_top_holds_[day];
  bool inserted = false;
  for (size_t i = 0; i < window.top_holds.size(); ++i) {
    const uint64_t hold_ns = window.top_holds[i].hold_ns;
    // Most holds of a large fleet are none of the day's longest.
    if (std::tie(last.hold_ns, end_unix_ns, window.key.host_id) >
        std::tie(hold_ns, last.end_unix_ns, last.host_id)) {
      continue;
    }
    Query insert = database_->Prepare(
        "INSERT INTO top_holds VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    const std::string alone = HoldAlone(window, window.top_holds[i]);
    insert.Bind(window.key.host_id, Blob{window.key.boot_id}, window.key.epoch,
                window.key.seq, i, day, hold_ns, end_unix_ns, Blob{alone});
    if (absl::Status s = insert.Run(); !s.ok()) return s;
    inserted = true;
  }
  if (!inserted) return absl::OkStatus();
  if (absl::Status s = FindLastTopHold(day); !s.ok()) return s;
  // Of equally long ones those that ended first, so that there are not ever
  // more of them.
  Query trim = database_->Prepare(
      "DELETE FROM top_holds WHERE day = ?1 AND (hold_ns < ?2 OR"
      " (hold_ns = ?2 AND (end_unix_ns, host_id) > (?3, ?4)))");
  return trim.Bind(day, last.hold_ns, last.end_unix_ns, last.host_id).Run();
}

absl::StatusOr<Outcome> SqliteBatch::Add(const Window& window) {
  const absl::Time counted_at = CountedAt(window, now_);
  const auto counted_unix_ns =
      static_cast<uint64_t>(absl::ToUnixNanos(counted_at));
  absl::StatusOr<Outcome> outcome = InsertKey(window, DayOf(counted_at));
  if (!outcome.ok()) return outcome;
  if (absl::Status s = UpsertHost(window, *outcome, counted_unix_ns); !s.ok()) {
    return s;
  }
  if (outcome->duplicate) return outcome;
  if (absl::Status s = InsertTopHolds(window, counted_at); !s.ok()) return s;
  const int64_t day = DayOf(counted_at);
  if (absl::Status s = WriteOpenHolds(window, day); !s.ok()) return s;

  const std::string& kernel = window.environment.kernel_release;
  Cohort& cohort = cohorts_[{kernel, window.environment.preempt}];
  ++cohort.windows;
  for (size_t i = 0; i < window.cells.size(); ++i) {
    const CohortCellKey key = CohortKeyOf(window.cells[i]);
    CohortCell& into = cohort.cells[key];
    into.cell.Merge(window.cells[i]);
    into.longest_by_hour[HourOf(counted_at)].Merge(LongestOf(window, i));
    HostDay& host_day = host_days_[{window.key.host_id, kernel, day, key}];
    host_day.Add(window.cells[i]);
    host_day.fingerprint = window.coverage.fingerprint;
  }
  Covered& covered = covered_[{window.key.host_id, kernel,
                               window.environment.kernel_build_id, day}];
  ++covered.windows;
  const uint64_t length_ns = window.end_boottime_ns - window.start_boottime_ns;
  covered.covered_ns += length_ns - std::min(length_ns, window.suspended_ns);
  covered.events_lost += EventsLost(window);
  GatherBoot(window, counted_at);
  return outcome;
}

// Of an epoch only the newest window's are kept: what goes on in the next one
// is in its own, and what is not has ended.
absl::Status SqliteBatch::WriteOpenHolds(const Window& window, int64_t day) {
  const WindowKey& key = window.key;
  Query over = database_->Prepare(
      "DELETE FROM host_open_holds WHERE host_id = ?1 AND boot_id = ?2"
      " AND epoch = ?3 AND seq < ?4");
  over.Bind(key.host_id, Blob{key.boot_id}, key.epoch, key.seq);
  if (absl::Status s = over.Run(); !s.ok()) return s;
  for (size_t i = 0; i < window.holds_in_progress.size(); ++i) {
    const Hold& hold = window.holds_in_progress[i];
    if (hold.hold_ns <= kLongHoldNs) break;  // longest first
    const Cell& cell = window.cells[hold.cell];
    // Nothing when a newer window of the epoch is known.
    Query insert = database_->Prepare(
        "INSERT INTO host_open_holds SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
        " ?10, ?11, ?12, ?13 WHERE NOT EXISTS (SELECT 1 FROM windows"
        " WHERE host_id = ?1 AND boot_id = ?2 AND epoch = ?3 AND seq > ?4)");
    insert.Bind(key.host_id, Blob{key.boot_id}, key.epoch, key.seq, i,
                window.environment.kernel_release, day, cell.key.subsystem,
                cell.key.operation, cell.key.role, cell.lock_model,
                cell.hold_tier, cell.wait_tier);
    if (absl::Status s = insert.Run(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void SqliteBatch::GatherBoot(const Window& window, absl::Time counted_at) {
  const auto [it, first] =
      boots_.try_emplace({window.key.host_id, window.key.boot_id});
  Booted& boot = it->second;
  const int64_t day = DayOf(counted_at);
  if (first || day >= boot.last_day) {
    boot.kernel_release = window.environment.kernel_release;
    boot.kernel_build = window.environment.kernel_build_id;
    boot.last_day = day;
    // The boot was as long ago as the host's clock of uptime says.
    const auto uptime_ns = static_cast<int64_t>(
        std::min<uint64_t>(window.end_boottime_ns, INT64_MAX));
    boot.boot_day = DayOf(counted_at - absl::Nanoseconds(uptime_ns));
    boot.said.environment = window.environment;
  }
  // A window cannot be without; the same for all, so that equal facts give
  // equal bytes.
  boot.said.key = {window.key.host_id, window.key.boot_id, 0, 1};
  boot.said.end_boottime_ns = 1;
  // Few windows say facts; what is said once counts until it is said anew.
  if (window.context.complete) boot.said.context.facts.clear();
  boot.said.context.complete |= window.context.complete;
  for (const auto& [name, value] : window.context.facts) {
    boot.said.context.facts[name] = value;
  }
}

absl::Status SqliteBatch::WriteBoot(const BootKey& key, const Booted& boot) {
  const auto& [host_id, boot_id] = key;
  Query known = database_->Prepare(
      "SELECT last_day, facts FROM host_boots WHERE host_id = ?1 AND"
      " boot_id = ?2");
  absl::StatusOr<bool> row = known.Bind(host_id, Blob{boot_id}).Step();
  if (!row.ok()) return row.status();
  // Windows change nothing of this, but for the first of a day and those that
  // say facts.
  if (*row && boot.last_day <= known.Int(0) &&
      boot.said.context.facts.empty()) {
    return absl::OkStatus();
  }
  Window facts = boot.said;
  if (*row) {
    const bool newer = boot.last_day > known.Int(0);
    const std::string bytes = known.Text(1);
    absl::StatusOr<Window> before = ParseWindow(bytes);
    if (!before.ok()) return before.status();
    // Complete ones replace, others change what they name.
    if (!facts.context.complete) {
      facts.context.facts.insert(before->context.facts.begin(),
                                 before->context.facts.end());
    }
    facts.context.complete |= before->context.complete;
    if (!newer && boot.last_day < known.Int(0)) facts = *std::move(before);
    if (!newer && Serialize(facts) == bytes) return absl::OkStatus();
  }
  const std::string serialized = Serialize(facts);
  Query upsert = database_->Prepare(
      "INSERT INTO host_boots AS b VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
      " ON CONFLICT DO UPDATE SET"
      " last_day = max(b.last_day, excluded.last_day), facts = excluded.facts");
  return upsert
      .Bind(host_id, Blob{boot_id}, boot.kernel_release, boot.kernel_build,
            boot.boot_day, boot.last_day, Blob{serialized})
      .Run();
}

absl::Status SqliteBatch::WriteCovered(const CoveredKey& key,
                                       const Covered& covered) {
  const auto& [host_id, release, build, day] = key;
  Query upsert = database_->Prepare(
      "INSERT INTO host_kernel_days AS d VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
      " ON CONFLICT DO UPDATE SET"
      " windows = d.windows + excluded.windows,"
      " covered_ns = d.covered_ns + excluded.covered_ns,"
      " events_lost = d.events_lost + excluded.events_lost");
  return upsert
      .Bind(host_id, release, build, day, covered.windows, covered.covered_ns,
            covered.events_lost)
      .Run();
}

absl::Status SqliteBatch::WriteHostDay(const HostDayKey& key,
                                       const HostDay& day) {
  const auto& [host_id, kernel, day_number, cell_key] = key;
  const CellKey& k = cell_key.key;
  Query upsert = database_->Prepare(
      "INSERT INTO host_days AS d VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
      " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,"
      " ?24, ?25, ?26, ?27, ?28, ?29, ?30)"
      " ON CONFLICT DO UPDATE SET"
      " fingerprint = excluded.fingerprint,"
      " acquisitions = d.acquisitions + excluded.acquisitions,"
      " contended = d.contended + excluded.contended,"
      " waits_over_1ms = d.waits_over_1ms + excluded.waits_over_1ms,"
      " waits_over_10ms = d.waits_over_10ms + excluded.waits_over_10ms,"
      " waits_over_100ms = d.waits_over_100ms + excluded.waits_over_100ms,"
      " wait_ns = d.wait_ns + excluded.wait_ns,"
      " hold_ns = d.hold_ns + excluded.hold_ns,"
      " runnable_ns = d.runnable_ns + excluded.runnable_ns,"
      " blocked_ns = d.blocked_ns + excluded.blocked_ns,"
      " on_cpu_ns = d.on_cpu_ns + excluded.on_cpu_ns,"
      " unknown_ns = d.unknown_ns + excluded.unknown_ns,"
      " longest_wait_ns = max(d.longest_wait_ns, excluded.longest_wait_ns),"
      " longest_hold_ns = max(d.longest_hold_ns, excluded.longest_hold_ns),"
      " longest_runnable_ns ="
      "   max(d.longest_runnable_ns, excluded.longest_runnable_ns),"
      " timed_operations = d.timed_operations + excluded.timed_operations,"
      " slow_operations = d.slow_operations + excluded.slow_operations,"
      " episodes_over_10ms ="
      "   d.episodes_over_10ms + excluded.episodes_over_10ms");
  return upsert
      .Bind(host_id, kernel, day_number, k.subsystem, k.operation, k.role,
            k.mode, k.algorithm, cell_key.lock_model, cell_key.hold_tier,
            cell_key.wait_tier, cell_key.latency_tier, day.fingerprint,
            day.acquisitions, day.contended, day.waits_over_1ms,
            day.waits_over_10ms, day.waits_over_100ms, day.wait_ns, day.hold_ns,
            day.runnable_ns, day.blocked_ns, day.on_cpu_ns, day.unknown_ns,
            day.longest_wait_ns, day.longest_hold_ns, day.longest_runnable_ns,
            day.timed_operations, day.slow_operations, day.episodes_over_10ms)
      .Run();
}

absl::Status SqliteBatch::WriteDistribution(int64_t cell_id, int kind,
                                            const Distribution& d) {
  if (AllZero(d)) return absl::OkStatus();
  Query upsert = database_->Prepare(
      "INSERT INTO cohort_distributions AS d"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
      " ON CONFLICT DO UPDATE SET"
      " sum_ns = d.sum_ns + excluded.sum_ns,"
      " max_ns = max(d.max_ns, excluded.max_ns),"
      " over_1ms = d.over_1ms + excluded.over_1ms,"
      " over_10ms = d.over_10ms + excluded.over_10ms,"
      " over_100ms = d.over_100ms + excluded.over_100ms");
  upsert.Bind(cell_id, kind, d.sum_ns, d.max_ns, d.over_1ms, d.over_10ms,
              d.over_100ms);
  if (absl::Status s = upsert.Run(); !s.ok()) return s;
  for (int i = Histogram::kUnderflowIndex; i <= Histogram::kOverflowIndex;
       ++i) {
    if (d.buckets.bucket(i) == 0) continue;
    Query bucket = database_->Prepare(
        "INSERT INTO cohort_buckets AS b VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT DO UPDATE SET count = b.count + excluded.count");
    bucket.Bind(cell_id, kind, i, d.buckets.bucket(i));
    if (absl::Status s = bucket.Run(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status SqliteBatch::WriteCell(const CohortKey& cohort,
                                    const CohortCellKey& key,
                                    const CohortCell& cohort_cell) {
  const Cell& c = cohort_cell.cell;
  Query upsert = database_->Prepare(
      "INSERT INTO cohort_cells AS c VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7,"
      " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"
      " ?22, ?23, ?24)"
      " ON CONFLICT DO UPDATE SET"
      " acquisitions = c.acquisitions + excluded.acquisitions,"
      " contended = c.contended + excluded.contended,"
      " on_cpu_ns = c.on_cpu_ns + excluded.on_cpu_ns,"
      " unknown_ns = c.unknown_ns + excluded.unknown_ns,"
      " waits_owner_running ="
      "   c.waits_owner_running + excluded.waits_owner_running,"
      " waits_owner_runnable ="
      "   c.waits_owner_runnable + excluded.waits_owner_runnable,"
      " waits_owner_blocked ="
      "   c.waits_owner_blocked + excluded.waits_owner_blocked,"
      " wait_owner_runnable_ns ="
      "   c.wait_owner_runnable_ns + excluded.wait_owner_runnable_ns,"
      " inversions = c.inversions + excluded.inversions,"
      " preempted_ns = c.preempted_ns + excluded.preempted_ns,"
      " woken_ns = c.woken_ns + excluded.woken_ns,"
      " throttled_ns = c.throttled_ns + excluded.throttled_ns,"
      " migrations = c.migrations + excluded.migrations"
      " RETURNING id");
  upsert.Bind(cohort.kernel_release, cohort.preempt, key.key.subsystem,
              key.key.operation, key.key.role, key.key.mode, key.key.algorithm,
              key.lock_model, key.hold_tier, key.wait_tier, key.latency_tier,
              c.acquisitions, c.contended, c.on_cpu_ns, c.unknown_ns,
              c.waits_owner_running, c.waits_owner_runnable,
              c.waits_owner_blocked, c.wait_owner_runnable_ns, c.inversions,
              c.preempted_ns, c.woken_ns, c.throttled_ns, c.migrations);
  if (absl::StatusOr<bool> row = upsert.Step(); !row.ok()) return row.status();
  const int64_t cell_id = upsert.Int(0);

  int kind = 0;
  for (const Distribution* d :
       {&c.wait, &c.hold, &c.runnable, &c.blocked, &c.latency}) {
    absl::Status s = WriteDistribution(cell_id, kind++, *d);
    if (!s.ok()) return s;
  }
  for (const auto& [hour, longest] : cohort_cell.longest_by_hour) {
    Query record = database_->Prepare(
        "INSERT INTO cohort_longest AS l VALUES (?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET"
        " hold_runnable_ns = CASE WHEN excluded.hold_ns > l.hold_ns"
        "   THEN excluded.hold_runnable_ns ELSE l.hold_runnable_ns END,"
        " hold_ns = max(l.hold_ns, excluded.hold_ns),"
        " wait_ns = max(l.wait_ns, excluded.wait_ns)");
    record.Bind(cell_id, hour, longest.wait_ns, longest.hold_ns,
                longest.hold_runnable_ns);
    if (absl::Status s = record.Run(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status SqliteBatch::Write() {
  for (const auto& [key, day] : host_days_) {
    if (absl::Status s = WriteHostDay(key, day); !s.ok()) return s;
  }
  for (const auto& [key, covered] : covered_) {
    if (absl::Status s = WriteCovered(key, covered); !s.ok()) return s;
  }
  for (const auto& [key, boot] : boots_) {
    if (absl::Status s = WriteBoot(key, boot); !s.ok()) return s;
  }
  for (const auto& [key, cohort] : cohorts_) {
    Query upsert = database_->Prepare(
        "INSERT INTO cohorts AS c VALUES (?1, ?2, ?3)"
        " ON CONFLICT DO UPDATE SET windows = c.windows + excluded.windows");
    upsert.Bind(key.kernel_release, key.preempt, cohort.windows);
    if (absl::Status s = upsert.Run(); !s.ok()) return s;
    for (const auto& [cell_key, cell] : cohort.cells) {
      if (absl::Status s = WriteCell(key, cell_key, cell); !s.ok()) return s;
    }
  }
  Query expire =
      database_->Prepare("DELETE FROM cohort_longest WHERE hour < ?");
  return expire.Bind(HourOf(now_) - kLongestHours + 1).Run();
}

}  // namespace swaplock
