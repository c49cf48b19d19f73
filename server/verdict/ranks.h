// Midranks, and the exact distribution of a sum of ranks.
#ifndef SWAPLOCK_SERVER_VERDICT_RANKS_H_
#define SWAPLOCK_SERVER_VERDICT_RANKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace swaplock {

// Twice the midrank of each pooled value, `a` first: integers even with ties.
// Their mean is one more than their number.
std::vector<int64_t> DoubledMidranks(const std::vector<double>& a,
                                     const std::vector<double>& b);

// About how many additions RankSumDistribution takes.
double RankSumCost(size_t total, size_t chosen);

// Element s: the share of all ways to choose `chosen` of the doubled ranks that
// sum to s. Counted one rank at a time, so for a cost of up to 1e8 the counts
// stay far below a double's range.
std::vector<double> RankSumDistribution(const std::vector<int64_t>& ranks,
                                        size_t chosen);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_RANKS_H_
