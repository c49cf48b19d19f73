#include "server/ledger/sqlite_ledger.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "server/ledger/sqlite_batch.h"
#include "server/ledger/sqlite_evidence.h"
#include "server/ledger/sqlite_load.h"
#include "server/ledger/sqlite_quarantine.h"
#include "server/ledger/sqlite_schema.h"
#include "server/ledger/sqlite_upkeep.h"
#include "server/ledger/sqlite_verdicts.h"

namespace swaplock {
namespace {

absl::Status MakeDirectory(const std::string& path) {
  struct stat entry;
  if (mkdir(path.c_str(), 0750) == 0) return absl::OkStatus();
  if (errno != EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrCat("make directory ", path, ": ", std::strerror(errno)));
  }
  if (stat(path.c_str(), &entry) != 0 || !S_ISDIR(entry.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a directory"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SchemaVersion(Database* database) {
  Query query = database->Prepare("PRAGMA user_version");
  absl::StatusOr<bool> row = query.Step();
  if (!row.ok()) return row.status();
  return query.Int(0);
}

// Makes an empty file a ledger and an older ledger one of this version, and
// refuses one of a newer version.
absl::Status Migrate(Database* database, const std::string& path) {
  // Reading the version fails first on a file that is no database.
  absl::StatusOr<int64_t> version = SchemaVersion(database);
  if (!version.ok()) return version.status();
  if (*version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " has schema version ", *version,
        ", this program knows versions up to ", kSchemaVersion,
        ": run the newer swaplock-server, or one on another data directory"));
  }
  if (absl::Status s = database->Execute("PRAGMA journal_mode = WAL;"
                                         "PRAGMA synchronous = FULL;");
      !s.ok()) {
    return s;
  }
  if (*version == kSchemaVersion) return absl::OkStatus();
  // All steps or none: a crash leaves the file as it was.
  std::string steps = *version == 0 ? kSchema : "";
  for (int64_t from = *version; from > 0 && from < kSchemaVersion; ++from) {
    absl::StrAppend(&steps, kMigrations[from - 1]);
  }
  absl::Status s = database->Execute(
      absl::StrCat("BEGIN IMMEDIATE;", steps,
                   "PRAGMA user_version = ", kSchemaVersion, ";COMMIT;"));
  if (!s.ok()) database->Execute("ROLLBACK;").IgnoreError();
  return s;
}

// All that `work` does or nothing of it.
template <typename Work>
absl::Status InTransaction(Database* database, Work work) {
  absl::Status s = database->Execute("BEGIN IMMEDIATE");
  if (!s.ok()) return s;
  s = work();
  if (s.ok()) s = database->Execute("COMMIT");
  // After some errors SQLite has rolled back by itself.
  if (!s.ok()) database->Execute("ROLLBACK").IgnoreError();
  return s;
}

}  // namespace

absl::StatusOr<DurableFile> SqliteLedger::Lock(const std::string& data_dir) {
  if (absl::Status s = MakeDirectory(data_dir); !s.ok()) return s;
  absl::StatusOr<DurableFile> lock =
      DurableFile::OpenToWrite(absl::StrCat(data_dir, "/lock"));
  if (!lock.ok()) return lock.status();
  if (absl::Status s = lock->LockForThisProcess(); !s.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another swaplock-server runs on ", data_dir, " (", s.message(), ")"));
  }
  return lock;
}

absl::StatusOr<std::unique_ptr<SqliteLedger>> SqliteLedger::OpenLocked(
    DurableFile* lock, const std::string& data_dir) {
  const std::string path = absl::StrCat(data_dir, "/ledger.db");
  absl::StatusOr<std::unique_ptr<Database>> writer =
      Database::Open(path, /*read_only=*/false);
  if (!writer.ok()) return writer.status();
  if (absl::Status s = Migrate(writer->get(), path); !s.ok()) return s;
  if (absl::Status s = CheckIntegrity(writer->get()); !s.ok()) return s;
  if (absl::Status s = InTransaction(writer->get(),
                                     [&] { return RemoveOld(writer->get()); });
      !s.ok()) {
    return s;
  }
  absl::StatusOr<std::unique_ptr<Database>> reader =
      Database::Open(path, /*read_only=*/true);
  if (!reader.ok()) return reader.status();
  absl::StatusOr<std::unique_ptr<SqliteVerdicts>> verdicts =
      SqliteVerdicts::Open(path);
  if (!verdicts.ok()) return verdicts.status();
  absl::StatusOr<std::unique_ptr<SqliteQuarantine>> quarantine =
      SqliteQuarantine::Open(path);
  if (!quarantine.ok()) return quarantine.status();
  return std::unique_ptr<SqliteLedger>(new SqliteLedger(
      path, std::move(*lock), *std::move(writer), *std::move(reader),
      *std::move(verdicts), *std::move(quarantine)));
}

absl::StatusOr<std::unique_ptr<SqliteLedger>> SqliteLedger::Open(
    const std::string& data_dir) {
  absl::StatusOr<DurableFile> lock = Lock(data_dir);
  if (!lock.ok()) return lock.status();
  auto ledger = OpenLocked(&*lock, data_dir);
  if (!absl::IsDataLoss(ledger.status())) return ledger;
  return absl::DataLossError(absl::StrCat(
      data_dir, "/ledger.db is damaged (", ledger.status().message(),
      "): put back a backup, or begin a new one with --set_aside_damaged"));
}

absl::StatusOr<std::unique_ptr<SqliteLedger>> SqliteLedger::OpenAnew(
    const std::string& data_dir) {
  absl::StatusOr<DurableFile> lock = Lock(data_dir);
  if (!lock.ok()) return lock.status();
  auto ledger = OpenLocked(&*lock, data_dir);
  if (!absl::IsDataLoss(ledger.status())) return ledger;
  const absl::StatusOr<std::string> aside =
      SetAsideLedger(data_dir, absl::Now());
  if (!aside.ok()) return aside.status();
  Log(LogLevel::kError,
      absl::StrCat("ledger: it is damaged (", ledger.status().message(),
                   ") and now ", *aside, "; a new one begins with nothing"));
  return OpenLocked(&*lock, data_dir);
}

absl::StatusOr<std::vector<Outcome>> SqliteLedger::Commit(
    const std::vector<Window>& windows, absl::Time now) {
  if (absl::Status s = writer_->Execute("BEGIN IMMEDIATE"); !s.ok()) return s;
  std::vector<Outcome> outcomes;
  absl::Status status;
  SqliteBatch batch(writer_.get(), now);
  for (const Window& window : windows) {
    absl::StatusOr<Outcome> outcome = batch.Add(window);
    if (!outcome.ok()) {
      status = outcome.status();
      break;
    }
    outcomes.push_back(*outcome);
  }
  if (status.ok()) status = batch.Write();
  if (status.ok()) status = writer_->Execute("COMMIT");
  if (status.ok()) return outcomes;
  // After some errors SQLite has rolled back by itself.
  writer_->Execute("ROLLBACK").IgnoreError();
  return status;
}

absl::StatusOr<FleetState> SqliteLedger::Load(absl::Time now) {
  absl::MutexLock lock(&reading_);
  FleetState state;
  // One transaction, so that all tables show the same commit.
  if (absl::Status s = reader_->Execute("BEGIN"); !s.ok()) return s;
  const absl::Status status = LoadFleet(reader_.get(), now, &state);
  reader_->Execute("COMMIT").IgnoreError();
  if (!status.ok()) return status;
  return state;
}

absl::StatusOr<std::unique_ptr<EvidenceReader>> SqliteLedger::OpenEvidence() {
  return SqliteEvidence::Open(path_);
}

}  // namespace swaplock
