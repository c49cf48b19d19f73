// The evidence for verdicts, read from the SQLite ledger by a connection of its
// own: one transaction, so that a commit meanwhile changes nothing of it.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_EVIDENCE_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_EVIDENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/ledger/sqlite.h"
#include "server/verdict/evidence.h"

namespace swaplock {

class SqliteEvidence : public EvidenceReader {
 public:
  static absl::StatusOr<std::unique_ptr<SqliteEvidence>> Open(
      const std::string& path);

  absl::StatusOr<std::vector<HostBoot>> Boots() override;
  absl::StatusOr<HostHistory> Host(const std::string& host_id,
                                   int64_t first_day,
                                   int64_t last_day) override;

 private:
  explicit SqliteEvidence(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  const std::unique_ptr<Database> database_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_EVIDENCE_H_
