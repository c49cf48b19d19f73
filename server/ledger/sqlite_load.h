// Reads the ledger's tables back into the forms that the server works with.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/fleet/fleet_state.h"
#include "server/ledger/sqlite.h"
#include "server/verdict/host_cell.h"

namespace swaplock {

// DataLoss when rows contradict each other. The caller's transaction makes all
// tables show the same commit.
absl::Status LoadFleet(Database* database, absl::Time now, FleetState* state);

absl::StatusOr<std::vector<HostCell>> LoadHostCells(Database* database);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_
