// Reads the ledger's tables back into the forms that the server works with.
#ifndef SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_
#define SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/fleet/fleet_state.h"
#include "server/ledger/sqlite.h"

namespace swaplock {

// DataLoss when rows contradict each other. The caller's transaction makes all
// tables show the same commit.
absl::Status LoadFleet(Database* database, absl::Time now, FleetState* state);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_SQLITE_LOAD_H_
