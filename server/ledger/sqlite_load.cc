#include "server/ledger/sqlite_load.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/window.h"

namespace swaplock {
namespace {

void ReadKey(const Query& row, int column, CellKey* key) {
  key->subsystem = static_cast<Subsystem>(row.Int(column));
  key->operation = static_cast<Operation>(row.Int(column + 1));
  key->role = static_cast<Role>(row.Int(column + 2));
  key->mode = static_cast<Mode>(row.Int(column + 3));
  key->algorithm = row.Text(column + 4);
}

// Calls `use` for every row of `sql`.
template <typename Use>
absl::Status ForEachRow(Database* database, const char* sql, Use use) {
  Query query = database->Prepare(sql);
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    if (absl::Status s = use(query); !s.ok()) return s;
  }
}

absl::Status LoadHosts(Database* database, FleetState* state) {
  absl::Status s = ForEachRow(
      database,
      "SELECT host_id, last_seen_unix_ns, last_window, windows, duplicates,"
      " missing, agent_cpu_ns FROM hosts",
      [&](const Query& row) {
        absl::StatusOr<Window> last = ParseWindow(row.Text(2));
        if (!last.ok()) return last.status();
        HostRecord& host = state->hosts[row.Text(0)];
        host.environment = std::move(last->environment);
        host.last_seen_unix_ns = row.Unsigned(1);
        host.coverage = std::move(last->coverage);
        host.windows = row.Unsigned(3);
        state->windows_merged += host.windows;
        state->windows_duplicate += row.Unsigned(4);
        state->windows_missing += row.Unsigned(5);
        state->agent_cpu_ns += row.Unsigned(6);
        return absl::OkStatus();
      });
  if (!s.ok()) return s;
  return ForEachRow(
      database, "SELECT reason, sum(events) FROM host_losses GROUP BY reason",
      [&](const Query& row) {
        state->losses[static_cast<LossReason>(row.Int(0))] = row.Unsigned(1);
        return absl::OkStatus();
      });
}

absl::Status LoadTopHolds(Database* database, absl::Time now,
                          FleetState* state) {
  absl::Status s = ForEachRow(
      database,
      "SELECT host_id, window, end_unix_ns FROM top_holds WHERE day >="
      " (SELECT max(day) FROM top_holds) - 1 ORDER BY hold_ns DESC",
      [&](const Query& row) {
        absl::StatusOr<Window> alone = ParseWindow(row.Text(1));
        if (!alone.ok()) return alone.status();
        state->top_holds.push_back(
            {row.Text(0), alone->environment.kernel_release,
             alone->cells[0].key, alone->top_holds[0], row.Unsigned(2)});
        return absl::OkStatus();
      });
  TrimTopHolds(now, &state->top_holds);
  return s;
}

absl::Status LoadCohorts(Database* database, absl::Time now,
                         FleetState* state) {
  std::map<int64_t, CohortCell*> cells;  // by their rows' ids
  absl::Status s = ForEachRow(
      database, "SELECT kernel_release, preempt, windows FROM cohorts",
      [&](const Query& row) {
        state->cohorts[{row.Text(0), row.Text(1)}].windows = row.Unsigned(2);
        return absl::OkStatus();
      });
  if (!s.ok()) return s;
  s = ForEachRow(database, "SELECT * FROM cohort_cells", [&](const Query& row) {
    CohortCellKey key;
    ReadKey(row, 3, &key.key);
    key.lock_model = static_cast<LockModel>(row.Int(8));
    key.hold_tier = static_cast<Tier>(row.Int(9));
    key.wait_tier = static_cast<Tier>(row.Int(10));
    key.latency_tier = static_cast<Tier>(row.Int(11));
    CohortCell& into = state->cohorts[{row.Text(1), row.Text(2)}].cells[key];
    cells[row.Int(0)] = &into;
    Cell& c = into.cell;
    c.key = key.key;
    c.lock_model = key.lock_model;
    c.hold_tier = key.hold_tier;
    c.wait_tier = key.wait_tier;
    c.latency_tier = key.latency_tier;
    int column = 12;
    for (uint64_t* value :
         {&c.acquisitions, &c.contended, &c.on_cpu_ns, &c.unknown_ns,
          &c.waits_owner_running, &c.waits_owner_runnable,
          &c.waits_owner_blocked, &c.wait_owner_runnable_ns, &c.inversions,
          &c.preempted_ns, &c.woken_ns, &c.throttled_ns, &c.migrations}) {
      *value = row.Unsigned(column++);
    }
    return absl::OkStatus();
  });
  if (!s.ok()) return s;

  const auto distribution = [&](const Query& row) -> Distribution* {
    const auto it = cells.find(row.Int(0));
    if (it == cells.end()) return nullptr;
    Cell& c = it->second->cell;
    Distribution* const all[] = {&c.wait, &c.hold, &c.runnable, &c.blocked,
                                 &c.latency};
    return row.Int(1) >= 0 && row.Int(1) < 5 ? all[row.Int(1)] : nullptr;
  };
  s = ForEachRow(database, "SELECT * FROM cohort_distributions",
                 [&](const Query& row) {
                   Distribution* d = distribution(row);
                   if (d == nullptr)
                     return absl::DataLossError("a row without its cell");
                   d->sum_ns = row.Unsigned(2);
                   d->max_ns = row.Unsigned(3);
                   d->over_1ms = row.Unsigned(4);
                   d->over_10ms = row.Unsigned(5);
                   d->over_100ms = row.Unsigned(6);
                   return absl::OkStatus();
                 });
  if (!s.ok()) return s;
  s = ForEachRow(
      database, "SELECT * FROM cohort_buckets", [&](const Query& row) {
        Distribution* d = distribution(row);
        if (d == nullptr || row.Int(2) < Histogram::kUnderflowIndex ||
            row.Int(2) > Histogram::kOverflowIndex) {
          return absl::DataLossError("a bucket without its histogram");
        }
        d->buckets.AddToBucket(static_cast<int>(row.Int(2)), row.Unsigned(3));
        return absl::OkStatus();
      });
  if (!s.ok()) return s;
  return ForEachRow(
      database, "SELECT * FROM cohort_longest", [&](const Query& row) {
        const auto it = cells.find(row.Int(0));
        if (it == cells.end() || row.Int(1) <= HourOf(now) - kLongestHours) {
          return absl::OkStatus();
        }
        Longest& longest = it->second->longest_by_hour[row.Int(1)];
        longest.wait_ns = row.Unsigned(2);
        longest.hold_ns = row.Unsigned(3);
        if (!row.IsNull(4)) longest.hold_runnable_ns = row.Unsigned(4);
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status LoadFleet(Database* database, absl::Time now, FleetState* state) {
  absl::Status status = LoadHosts(database, state);
  if (status.ok()) status = LoadTopHolds(database, now, state);
  if (status.ok()) status = LoadCohorts(database, now, state);
  return status;
}

}  // namespace swaplock
