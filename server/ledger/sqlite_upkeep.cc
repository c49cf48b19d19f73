#include "server/ledger/sqlite_upkeep.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/durable_file.h"
#include "server/fleet/fleet_state.h"

namespace swaplock {
namespace {

absl::Status Failed(absl::string_view tried, const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(tried, " ", path, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status CheckIntegrity(Database* database) {
  Query query = database->Prepare("PRAGMA integrity_check(1)");
  const absl::StatusOr<bool> row = query.Step();
  if (!row.ok()) return row.status();
  const std::string found = query.Text(0);
  if (*row && found == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("integrity check: ", found));
}

absl::Status RemoveOld(Database* database) {
  Query newest = database->Prepare("SELECT max(last_seen_unix_ns) FROM hosts");
  if (auto row = newest.Step(); !row.ok()) return row.status();
  const int64_t today = DayOf(absl::FromUnixNanos(newest.Int(0)));
  for (const char* const sql :
       {"DELETE FROM host_days WHERE day < ?1",
        "DELETE FROM host_kernel_days WHERE day < ?1",
        "DELETE FROM host_open_holds WHERE day < ?1",
        "DELETE FROM host_boots WHERE last_day < ?1",
        // The newest version of a verdict stays.
        "DELETE FROM verdict_versions WHERE"
        " evaluation_id IN (SELECT id FROM verdict_evaluations"
        "  WHERE last_day < ?1)"
        " AND version < (SELECT version FROM verdicts WHERE id = verdict_id)",
        "DELETE FROM verdict_evaluations WHERE last_day < ?1 AND id NOT IN"
        " (SELECT evaluation_id FROM verdict_versions)",
        "DELETE FROM verdict_self_tests WHERE last_day < ?1"}) {
    Query old = database->Prepare(sql);
    if (absl::Status s = old.Bind(today - kHostDays).Run(); !s.ok()) return s;
  }
  Query holds = database->Prepare("DELETE FROM top_holds WHERE day < ?1");
  if (absl::Status s = holds.Bind(today - kTopHoldDays).Run(); !s.ok()) {
    return s;
  }
  return database->Execute(absl::StrCat(
      "DELETE FROM cohorts WHERE (SELECT count(*) FROM cohorts) > ",
      kCohortsToKeep,
      " AND kernel_release NOT IN (SELECT kernel_release FROM host_days);"
      "DELETE FROM cohort_cells WHERE NOT EXISTS (SELECT 1 FROM cohorts AS c"
      " WHERE c.kernel_release = cohort_cells.kernel_release"
      " AND c.preempt = cohort_cells.preempt);"
      "DELETE FROM cohort_distributions"
      " WHERE cell_id NOT IN (SELECT id FROM cohort_cells);"
      "DELETE FROM cohort_buckets"
      " WHERE cell_id NOT IN (SELECT id FROM cohort_cells);"
      "DELETE FROM cohort_longest"
      " WHERE cell_id NOT IN (SELECT id FROM cohort_cells);"));
}

absl::Status BackUp(const std::string& data_dir, const std::string& target) {
  if (access(target.c_str(), F_OK) == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(target, " is there already"));
  }
  auto from = Database::Open(absl::StrCat(data_dir, "/ledger.db"),
                             /*read_only=*/true);
  if (!from.ok()) return from.status();
  const std::string temporary = absl::StrCat(target, ".new");
  if (unlink(temporary.c_str()) != 0 && errno != ENOENT) {
    return Failed("remove", temporary);
  }
  // SQLite writes into an empty file, and makes one that others may read.
  const int empty =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (empty < 0) return Failed("make", temporary);
  close(empty);
  {
    // One read transaction: what the server commits meanwhile is not in it, and
    // the server does not wait for it.
    Query copy = (*from)->Prepare("VACUUM INTO ?1");
    if (absl::Status s = copy.Bind(temporary).Run(); !s.ok()) return s;
  }
  {
    auto copied = Database::Open(temporary, /*read_only=*/true);
    if (!copied.ok()) return copied.status();
    if (absl::Status s = CheckIntegrity(copied->get()); !s.ok()) return s;
  }
  absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(temporary);
  if (!file.ok()) return file.status();
  if (absl::Status s = file->Sync(); !s.ok()) return s;
  return file->RenameTo(target);
}

absl::StatusOr<std::string> SetAsideLedger(const std::string& data_dir,
                                           absl::Time now) {
  const std::string path = absl::StrCat(data_dir, "/ledger.db");
  const std::string aside =
      absl::StrCat(path, ".damaged-", absl::ToUnixSeconds(now));
  // The log first: a ledger without its log is whole as of the last checkpoint,
  // a log that is found beside a new ledger would be applied to it.
  for (const char* end : {"-wal", "-shm", ""}) {
    const std::string from = absl::StrCat(path, end);
    if (rename(from.c_str(), absl::StrCat(aside, end).c_str()) != 0 &&
        errno != ENOENT) {
      return Failed("set aside", from);
    }
  }
  return aside;
}

}  // namespace swaplock
