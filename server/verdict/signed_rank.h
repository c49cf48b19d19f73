// The signed-rank test of one sample, for before/after without anybody to
// compare with. A calendar shock common to all hosts looks like an effect to
// it, so what it finds is never more than a suspicion.
#ifndef SWAPLOCK_SERVER_VERDICT_SIGNED_RANK_H_
#define SWAPLOCK_SERVER_VERDICT_SIGNED_RANK_H_

#include <vector>

#include "server/verdict/rank_test.h"
#include "server/verdict/stratified_rank_test.h"

namespace swaplock {

// One-sided p of the hypothesis that the values are symmetric about `centre` or
// lie lower (kHigher) or higher (kLower). By the normal distribution with the
// variance for ties; values equal to the centre are left out.
double SignedRankP(const std::vector<double>& values, double centre,
                   Direction direction);

// The pseudo-median (of all means of two values) and the centres not rejected
// at `tail` on either side. `values` must not be empty.
Shift PseudoMedian(const std::vector<double>& values, double tail);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SIGNED_RANK_H_
