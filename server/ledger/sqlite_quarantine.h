// The quarantine in the SQLite ledger, by a connection of its own: it is
// written once in a while, and never waits for longer than a commit.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_QUARANTINE_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_QUARANTINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/admission/quarantine_store.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

class SqliteQuarantine : public QuarantineStore {
 public:
  // The file is a ledger of this version.
  static absl::StatusOr<std::unique_ptr<SqliteQuarantine>> Open(
      const std::string& path);

  absl::StatusOr<std::vector<QuarantinedHost>> LoadQuarantine() override;
  absl::Status Keep(const QuarantinedHost& host) override;
  absl::Status Forget(const std::string& host_id) override;

 private:
  explicit SqliteQuarantine(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  absl::Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_QUARANTINE_H_
