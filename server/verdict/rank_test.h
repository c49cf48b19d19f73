// The two-sample rank test behind every verdict: Wilcoxon-Mann-Whitney with
// midranks, and the Hodges-Lehmann shift with the interval that belongs to it.
//
// Pure functions; the same input gives the same output on every machine.
#ifndef SWAPLOCK_SERVER_VERDICT_RANK_TEST_H_
#define SWAPLOCK_SERVER_VERDICT_RANK_TEST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace swaplock {

struct RankTest {
  // Two-sided: the share of ways to label the pooled values in which the rank
  // sum lies at least as far from its mean as it does. Never 0, at most 1.
  double p_value = 1;
  // Whether all ways were counted (ties included) or a sample of them drawn;
  // then p is (b + 1) / (m + 1) for b of m draws, so never below 1e-4.
  bool exact = true;
};

// Tests whether `a` and `b` (finite numbers, one per host) could have their
// labels exchanged. `seed` is used only for samples too large to enumerate,
// from about 47 hosts per side. An empty side gives p = 1.
RankTest TestRanks(const std::vector<double>& a, const std::vector<double>& b,
                   uint64_t seed);

// The smallest p that sides of these sizes can give, without ties:
// 2 / C(m + n, m), or 1 when a side is empty.
double SmallestRankTestP(size_t m, size_t n);

struct Shift {
  double estimate = 0;  // median of all differences b - a
  double lower = 0;
  double upper = 0;
};

// How far `b` lies above `a`, with the shifts that the rank test does not
// reject at `tail` on either side: tail = 0.05 gives a 90 % interval. Where no
// interval of that confidence exists (too few values) its ends are infinite.
// Neither side may be empty. Takes memory for all |a| * |b| differences.
Shift HodgesLehmann(const std::vector<double>& a, const std::vector<double>& b,
                    double tail);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_RANK_TEST_H_
