#include "server/ledger/sqlite_evidence.h"

#include <algorithm>

#include "common/window.h"
#include "server/ledger/boot_properties.h"

namespace swaplock {
namespace {

constexpr double kNsPerHour = 3.6e12;

absl::Status ReadBoots(Database* database, const std::string& host_id,
                       HostHistory* history) {
  Query query = database->Prepare(
      "SELECT kernel_release, kernel_build, boot_day, last_day, facts"
      " FROM host_boots WHERE host_id = ?1");
  query.Bind(host_id);
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    const absl::StatusOr<Window> said = ParseWindow(query.Text(4));
    if (!said.ok()) return said.status();
    HostBoot boot;
    boot.host_id = host_id;
    boot.kernel_release = query.Text(0);
    boot.kernel_build = query.Text(1);
    boot.day = query.Int(2);
    boot.last_day = query.Int(3);
    boot.keys = StrataKeysOf(said->environment, said->context.facts);
    boot.facts = ChangeableFacts(said->environment, said->context.facts);
    history->boots.push_back(std::move(boot));
  }
}

absl::Status ReadDays(Database* database, const std::string& host_id,
                      int64_t first_day, int64_t last_day,
                      HostHistory* history) {
  Query query = database->Prepare(
      "SELECT kernel_release, day, covered_ns, events_lost"
      " FROM host_kernel_days WHERE host_id = ?1 AND day BETWEEN ?2 AND ?3");
  query.Bind(host_id, first_day, last_day);
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    HostDay day;
    day.host_id = host_id;
    day.kernel_release = query.Text(0);
    day.day = query.Int(1);
    // A window counts on the day that it ends; one merged from many may be
    // longer than that day was.
    day.hours =
        std::min(24.0, static_cast<double>(query.Unsigned(2)) / kNsPerHour);
    day.events_lost = query.Unsigned(3);
    history->days.push_back(std::move(day));
  }
}

absl::Status ReadCells(Database* database, const std::string& host_id,
                       int64_t first_day, int64_t last_day,
                       HostHistory* history) {
  // Not summed here: numbers that a host made up would overflow SQLite's sums.
  // Holds that were never seen to end are rows of their own, which only have
  // the last number.
  Query query = database->Prepare(
      "SELECT kernel_release, day, subsystem, operation, role, lock_model,"
      " hold_tier, wait_tier, latency_tier, acquisitions, contended,"
      " waits_over_1ms, waits_over_10ms, waits_over_100ms, wait_ns, hold_ns,"
      " runnable_ns, longest_hold_ns, longest_runnable_ns, timed_operations,"
      " slow_operations, episodes_over_10ms, 0"
      " FROM host_days WHERE host_id = ?1 AND day BETWEEN ?2 AND ?3"
      " UNION ALL"
      " SELECT kernel_release, day, subsystem, operation, role, lock_model,"
      " hold_tier, wait_tier, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
      " count(*)"
      " FROM host_open_holds WHERE host_id = ?1 AND day BETWEEN ?2 AND ?3"
      " GROUP BY 1, 2, 3, 4, 5, 6, 7, 8");
  query.Bind(host_id, first_day, last_day);
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    HostDayCell cell;
    cell.host_id = host_id;
    cell.kernel_release = query.Text(0);
    cell.day = query.Int(1);
    cell.subsystem = static_cast<Subsystem>(query.Int(2));
    cell.operation = static_cast<Operation>(query.Int(3));
    cell.role = static_cast<Role>(query.Int(4));
    cell.lock_model = static_cast<LockModel>(query.Int(5));
    cell.hold_tier = static_cast<Tier>(query.Int(6));
    cell.wait_tier = static_cast<Tier>(query.Int(7));
    cell.latency_tier = static_cast<Tier>(query.Int(8));
    int column = 9;
    for (uint64_t* value :
         {&cell.acquisitions, &cell.contended, &cell.waits_over_1ms,
          &cell.waits_over_10ms, &cell.waits_over_100ms, &cell.wait_ns,
          &cell.hold_ns, &cell.runnable_ns, &cell.longest_hold_ns,
          &cell.longest_runnable_ns, &cell.timed_operations,
          &cell.slow_operations, &cell.episodes_over_10ms, &cell.censored}) {
      *value = query.Unsigned(column++);
    }
    history->cells.push_back(std::move(cell));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteEvidence>> SqliteEvidence::Open(
    const std::string& path) {
  auto database = Database::Open(path, /*read_only=*/true);
  if (!database.ok()) return database.status();
  // The first read fixes what the transaction sees.
  absl::Status s =
      (*database)->Execute("BEGIN; SELECT 1 FROM host_boots LIMIT 1");
  if (!s.ok()) return s;
  return std::unique_ptr<SqliteEvidence>(
      new SqliteEvidence(*std::move(database)));
}

absl::StatusOr<std::vector<HostBoot>> SqliteEvidence::Boots() {
  std::vector<HostBoot> out;
  Query query = database_->Prepare(
      "SELECT host_id, kernel_release, kernel_build, boot_day, last_day"
      " FROM host_boots");
  while (true) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return out;
    HostBoot boot;
    boot.host_id = query.Text(0);
    boot.kernel_release = query.Text(1);
    boot.kernel_build = query.Text(2);
    boot.day = query.Int(3);
    boot.last_day = query.Int(4);
    out.push_back(std::move(boot));
  }
}

absl::StatusOr<HostHistory> SqliteEvidence::Host(const std::string& host_id,
                                                 int64_t first_day,
                                                 int64_t last_day) {
  HostHistory history;
  absl::Status status = ReadBoots(database_.get(), host_id, &history);
  if (status.ok()) {
    status = ReadDays(database_.get(), host_id, first_day, last_day, &history);
  }
  if (status.ok()) {
    status = ReadCells(database_.get(), host_id, first_day, last_day, &history);
  }
  if (!status.ok()) return status;
  return history;
}

}  // namespace swaplock
