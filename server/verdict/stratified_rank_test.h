// The test behind every verdict on a rollout: Wilcoxon-Mann-Whitney inside each
// stratum, combined by van Elteren's weights 1 / (N + 1), with the p-value of
// exchanging labels inside strata; and the Hodges-Lehmann shift with the
// interval of shifts that the same statistic does not reject.
//
// Pure functions; the same input gives the same output on every machine.
#ifndef SWAPLOCK_SERVER_VERDICT_STRATIFIED_RANK_TEST_H_
#define SWAPLOCK_SERVER_VERDICT_STRATIFIED_RANK_TEST_H_

#include <cstdint>
#include <vector>

#include "server/verdict/rank_test.h"

namespace swaplock {

// One finite number per host: the change of its log rate, say.
struct StratumValues {
  std::vector<double> treated;
  std::vector<double> controls;
};
// A stratum with an empty side says nothing and is ignored.
using Strata = std::vector<StratumValues>;

enum class Direction { kHigher, kLower };

struct StratifiedTest {
  // One-sided. Never 0, at most 1.
  double p_value = 1;
  // All labelings were counted. Otherwise they were sampled: p is (b + 1) /
  // (m + 1) with m of up to 9,999, fewer where p is large (Besag and Clifford).
  bool exact = true;
};

// kHigher: tests the hypothesis that treated hosts lie above controls by at
// most `shift`, against that it is more. kLower: at least, and less. `seed` is
// used only where there are too many labelings to count, from about 25 hosts on
// each side.
StratifiedTest TestStratified(const Strata& strata, double shift,
                              Direction direction, uint64_t seed);

// The same by the normal distribution with the variance for ties.
double NormalP(const Strata& strata, double shift, Direction direction);

// The largest p that the test gives when any one host is left out: exact or by
// the normal distribution.
double LargestPWithoutOneHost(const Strata& strata, double shift,
                              Direction direction);

// The smallest one-sided p that strata of these sizes can give, without ties;
// at least 1e-4 when it would be sampled.
double SmallestStratifiedP(const Strata& strata);

// How far treated hosts lie above controls: the weighted median of the
// differences inside strata, and the shifts not rejected at `tail` on either
// side (infinite where the hosts are too few for an interval). With one stratum
// it is the Hodges-Lehmann shift. Some stratum must have both sides.
Shift StratifiedShift(const Strata& strata, double tail);

// A robust standard deviation of the values of a host inside strata: 1.48 times
// the median distance from the median of its arm and stratum. 0 when there are
// too few to tell.
double SpreadInsideStrata(const Strata& strata);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_STRATIFIED_RANK_TEST_H_
