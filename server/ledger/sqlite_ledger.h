// The ledger in one SQLite file, ledger.db, of one server's data directory:
// write-ahead log, synchronous=FULL, so a commit that returned survives a
// power failure.
//
// One connection writes, another reads; a server that runs on the directory
// already is detected by a lock on its file `lock`, not by luck.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_LEDGER_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_LEDGER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/durable_file.h"
#include "server/ledger/ledger.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

class SqliteLedger : public Ledger {
 public:
  // Creates the directory (mode 0750, its parent must be there) and the file if
  // need be, checks a file that is there, and removes what is old from it.
  // FailedPrecondition, in one sentence, when another server has the directory
  // or a newer version wrote the file; DataLoss when the file is damaged.
  static absl::StatusOr<std::unique_ptr<SqliteLedger>> Open(
      const std::string& data_dir);
  // The same, but a damaged file is set aside first, and a new one begun.
  static absl::StatusOr<std::unique_ptr<SqliteLedger>> OpenAnew(
      const std::string& data_dir);

  absl::StatusOr<std::vector<Outcome>> Commit(
      const std::vector<Window>& windows, absl::Time now) override;
  absl::StatusOr<FleetState> Load(absl::Time now) override;
  absl::StatusOr<std::unique_ptr<EvidenceReader>> OpenEvidence() override;
  VerdictStore* verdicts() override { return verdicts_.get(); }
  QuarantineStore* quarantine() override { return quarantine_.get(); }

 private:
  static absl::StatusOr<DurableFile> Lock(const std::string& data_dir);
  static absl::StatusOr<std::unique_ptr<SqliteLedger>> OpenLocked(
      DurableFile* lock, const std::string& data_dir);

  SqliteLedger(std::string path, DurableFile lock,
               std::unique_ptr<Database> writer,
               std::unique_ptr<Database> reader,
               std::unique_ptr<VerdictStore> verdicts,
               std::unique_ptr<QuarantineStore> quarantine)
      : path_(std::move(path)),
        lock_(std::move(lock)),
        writer_(std::move(writer)),
        reader_(std::move(reader)),
        verdicts_(std::move(verdicts)),
        quarantine_(std::move(quarantine)) {}

  const std::string path_;
  const DurableFile lock_;
  const std::unique_ptr<Database> writer_;  // of the thread that commits
  absl::Mutex reading_;
  const std::unique_ptr<Database> reader_ ABSL_PT_GUARDED_BY(reading_);
  const std::unique_ptr<VerdictStore> verdicts_;
  const std::unique_ptr<QuarantineStore> quarantine_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_LEDGER_H_
