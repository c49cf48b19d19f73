// From rows of evidence to one rate per host: which hosts of a kernel build can
// be compared for one operation, and what they counted.
#ifndef SWAPLOCK_SERVER_VERDICT_EXPOSURE_H_
#define SWAPLOCK_SERVER_VERDICT_EXPOSURE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/cell.h"
#include "server/verdict/host_cell.h"
#include "server/verdict/operation_key.h"

namespace swaplock {

struct HostRate {
  uint64_t operations = 0;
  uint64_t waits_over_10ms = 0;
};

// How the waits of a host were measured. Where waiting is impossible (a lock
// that turns preemption off, or none) they are known to be 0 without measuring,
// which compares with every tier.
enum class WaitSight { kImpossible, kExact, kBracket, kContention };

// Nothing: a cell of this model and these tiers does not count operations, or
// does not measure waits.
std::optional<WaitSight> SightOf(LockModel lock_model, Tier hold_tier,
                                 Tier wait_tier);

// All that one kernel build's hosts say of one operation.
struct Evidence {
  // By sight, then by host. A host appears under one sight only.
  std::map<WaitSight, std::map<std::string, HostRate>> hosts;
  // Hosts that cannot count the operation or its waits, or that changed how
  // they measure; disjoint from the above.
  std::set<std::string> unmeasured;
};

// By kernel build, then by operation.
std::map<std::string, std::map<OperationKey, Evidence>> GatherEvidence(
    const std::vector<HostCell>& cells);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_EXPOSURE_H_
