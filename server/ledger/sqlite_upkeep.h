// What keeps the ledger's file well: checked when it is opened, copied while it
// is used, and rid of what is old.
//
// Kept are, for ever: which windows are known, what each cohort counted, the
// newest version of each verdict, incidents. For kHostDays: what each host
// counted on each day, its boots, older versions of verdicts, self-tests. For
// kTopHoldDays: the longest holds.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_UPKEEP_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_UPKEEP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

inline constexpr int64_t kHostDays = 90;
inline constexpr int64_t kTopHoldDays = 14;
// Above so many cohorts those that no host reported for kHostDays are dropped.
inline constexpr int64_t kCohortsToKeep = 128;

// DataLoss, with the first thing that SQLite finds wrong. Reads the whole file:
// some 100 MB a second.
absl::Status CheckIntegrity(Database* database);

// Removes what is older than the above, as seen from the newest window: a wrong
// clock of this machine removes nothing.
absl::Status RemoveOld(Database* database);

// A consistent copy of the ledger in `data_dir` at `target`, which must not be
// there, while a server may be writing to it. The copy is checked before it
// gets its name.
absl::Status BackUp(const std::string& data_dir, const std::string& target);

// Renames ledger.db and what belongs to it to ledger.db.damaged-SECONDS...;
// returns the new name.
absl::StatusOr<std::string> SetAsideLedger(const std::string& data_dir,
                                           absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_UPKEEP_H_
