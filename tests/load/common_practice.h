// What people would use instead of verdicts, on the same fleet: +1 it says that
// the new kernel is worse, -1 better, 0 nothing. Each at its usual settings.
#ifndef SWAPLOCK_TESTS_LOAD_COMMON_PRACTICE_H_
#define SWAPLOCK_TESTS_LOAD_COMMON_PRACTICE_H_

#include <vector>

#include "tests/load/simulated_fleet.h"

namespace swaplock {

// Mann-Whitney at 5 % over the time points of a canary analysis: each hour's
// rate of all upgraded hosts together against that of all others, over the 7
// days after the upgrade.
int MannWhitneyOverTime(const std::vector<HostSeries>& series, uint64_t seed);

// Welch's t-test at 5 % on the means of hosts' rates, over the same days.
int WelchOnMeans(const std::vector<HostSeries>& series);

// An alert on the ratio of rates of upgraded and other hosts, as a query over a
// time series database: above 1.10 (below 1 / 1.10), with at least 20 events.
int RatioAlert(const std::vector<HostSeries>& series);

// E-divisive at p <= 0.001 on the daily rate of all upgraded hosts together:
// whether a change point lies within 3 days of the upgrade.
int EDivisive(const std::vector<HostSeries>& series, uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_COMMON_PRACTICE_H_
