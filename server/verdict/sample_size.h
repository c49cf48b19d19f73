// What numbers of hosts can show, before and after a test.
#ifndef SWAPLOCK_SERVER_VERDICT_SAMPLE_SIZE_H_
#define SWAPLOCK_SERVER_VERDICT_SAMPLE_SIZE_H_

#include <cstdint>

namespace swaplock {

// The ratio that is found 4 times in 5 by a one-sided test at 5 % against
// `margin`. `spread` is the robust standard deviation of a host's log ratio
// (SpreadInsideStrata). NaN when an arm is empty or the spread unknown (0).
double DetectableRatio(double spread, uint64_t treated, uint64_t controls,
                       double margin);

// Hosts per arm to find `ratio` that way; 0 when the spread is unknown (0).
// `ratio` must be above `margin`.
uint64_t HostsPerArmFor(double ratio, double spread, double margin);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SAMPLE_SIZE_H_
