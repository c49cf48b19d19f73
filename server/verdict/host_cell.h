// What one host counted in one cell on one kernel build over all its days: the
// row of evidence a verdict reads. The ledger sums its host-days into these.
//
// A host that changed tier or lock model has one row for each.
#ifndef SWAPLOCK_SERVER_VERDICT_HOST_CELL_H_
#define SWAPLOCK_SERVER_VERDICT_HOST_CELL_H_

#include <cstdint>
#include <string>

#include "common/cell.h"

namespace swaplock {

struct HostCell {
  std::string host_id;
  std::string kernel_release;
  CellKey key;  // device is empty: devices are merged
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  uint64_t acquisitions = 0;  // means nothing unless CountsHolds(hold_tier)
  uint64_t contended = 0;
  uint64_t waits_over_10ms = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_HOST_CELL_H_
