// The verdicts' tables of the SQLite ledger, by a connection of their own: a
// commit of windows waits for a write of verdicts, milliseconds, and no longer.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_VERDICTS_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_VERDICTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/judge/verdict_store.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

class SqliteVerdicts : public VerdictStore {
 public:
  // The file is a ledger of this version.
  static absl::StatusOr<std::unique_ptr<SqliteVerdicts>> Open(
      const std::string& path);

  absl::StatusOr<StoredBook> LoadVerdicts() override;
  absl::Status Write(const VerdictChanges& changes) override;
  absl::StatusOr<std::vector<StoredVerdict>> Versions(uint64_t id) override;
  absl::StatusOr<Evaluation> EvaluationOf(uint64_t id) override;

 private:
  explicit SqliteVerdicts(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  absl::Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_VERDICTS_H_
