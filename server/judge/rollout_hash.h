// A number that stands for the rows of a rollout: equal rows have equal hashes,
// on every machine. A stored verdict keeps it, so that one that comes out
// otherwise later can be told from rows that are others now.
#ifndef SWAPLOCK_SERVER_JUDGE_ROLLOUT_HASH_H_
#define SWAPLOCK_SERVER_JUDGE_ROLLOUT_HASH_H_

#include <cstdint>

#include "server/verdict/rollout.h"

namespace swaplock {

// Continued from `hash`.
uint64_t HashOfRollout(const Rollout& rollout, uint64_t hash);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_ROLLOUT_HASH_H_
