#include "server/verdict/wait_sight.h"

namespace swaplock {

std::optional<WaitSight> SightOf(LockModel lock_model, Tier hold_tier,
                                 Tier wait_tier) {
  if (!CountsHolds(hold_tier)) return std::nullopt;
  if (lock_model == LockModel::kPreemptOff || lock_model == LockModel::kNone) {
    return WaitSight::kImpossible;
  }
  switch (wait_tier) {
    case Tier::kExact:
      return WaitSight::kExact;
    case Tier::kBracket:
      return WaitSight::kBracket;
    case Tier::kContention:
      return WaitSight::kContention;
    case Tier::kOwnerProbe:
    case Tier::kUnspecified:
      break;
  }
  return std::nullopt;
}

}  // namespace swaplock
