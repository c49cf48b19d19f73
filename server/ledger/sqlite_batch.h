// One batch of windows on its way into the SQLite ledger's tables: keys first,
// then what the new ones add up to, so that fifty windows of one cohort write
// each of its rows once.
//
// Lives inside one transaction of sqlite_ledger.cc, which owns begin and end.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_BATCH_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_BATCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/window.h"
#include "server/fleet/fleet_state.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

class SqliteBatch {
 public:
  SqliteBatch(Database* database, absl::Time now)
      : database_(database), now_(now) {}

  // Stores the window's key and gathers its numbers, unless the key is known.
  absl::StatusOr<Outcome> Add(const Window& window);

  // Writes what was gathered.
  absl::Status Write();

 private:
  struct HostDay {
    Cell cell;
    uint64_t fingerprint = 0;
  };
  // The last hold of a day that is kept. Until there are as many as are kept,
  // one that every hold comes before.
  struct LastTopHold {
    uint64_t hold_ns = 0;
    int64_t end_unix_ns = INT64_MAX;
    std::string host_id;
  };
  using HostDayKey =
      std::tuple<std::string, std::string, int64_t, CohortCellKey>;

  absl::StatusOr<uint64_t> KnownOf(const WindowKey& key, uint64_t after);
  absl::StatusOr<Outcome> InsertKey(const Window& window, int64_t day);
  absl::Status WriteRange(const WindowKey& key, int64_t day,
                          uint64_t stands_for);
  absl::Status UpsertHost(const Window& window, const Outcome& outcome,
                          uint64_t counted_unix_ns);
  absl::Status InsertTopHolds(const Window& window, absl::Time counted_at);
  // Finds the last of the day's holds that is kept, in TrimTopHolds' order.
  absl::Status FindLastTopHold(int64_t day);
  absl::Status WriteHostDay(const HostDayKey& key, const HostDay& day);
  absl::Status WriteCell(const CohortKey& cohort, const CohortCellKey& key,
                         const CohortCell& cell);
  absl::Status WriteDistribution(int64_t cell_id, int kind,
                                 const Distribution& distribution);

  Database* database_;
  const absl::Time now_;
  std::map<CohortKey, Cohort> cohorts_;
  std::map<HostDayKey, HostDay> host_days_;
  std::map<int64_t, LastTopHold> last_top_holds_;  // by day
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_BATCH_H_
