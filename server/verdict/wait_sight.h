// How the waits of a host were measured: what decides which hosts compare.
#ifndef SWAPLOCK_SERVER_VERDICT_WAIT_SIGHT_H_
#define SWAPLOCK_SERVER_VERDICT_WAIT_SIGHT_H_

#include <optional>

#include "common/cell.h"

namespace swaplock {

// Where waiting is impossible (a lock that turns preemption off, or none) waits
// are known to be 0 without measuring, which compares with every tier.
enum class WaitSight { kImpossible, kExact, kBracket, kContention };

// Nothing: a cell of this model and these tiers does not count operations, or
// does not measure waits.
std::optional<WaitSight> SightOf(LockModel lock_model, Tier hold_tier,
                                 Tier wait_tier);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_WAIT_SIGHT_H_
