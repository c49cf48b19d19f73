// Ratios of quantiles of waits, with intervals that take hosts as the unit.
// They stand beside a verdict and do not make one.
#ifndef SWAPLOCK_SERVER_VERDICT_QUANTILE_RATIO_H_
#define SWAPLOCK_SERVER_VERDICT_QUANTILE_RATIO_H_

#include <string>
#include <vector>

#include "server/verdict/distributions.h"
#include "server/verdict/rollout.h"

namespace swaplock {

using HostBuckets = std::vector<BucketCount>;  // of one host, ascending

struct PooledQuantile {
  double ns = 0;
  Interval interval_ns;           // 90 %; at least its bucket wide
  double median_of_hosts_ns = 0;  // each host's own quantile: not the busiest's
  std::string missing;            // one clause; empty when there is a quantile
};

// The quantile `q` of all hosts' values together, by Woodruff's interval with
// variance between hosts. Needs 100 values above it, from 10 hosts, none of
// which has more than a fifth of all values.
PooledQuantile QuantileOf(const std::vector<HostBuckets>& hosts, double q);

struct QuantileRatio {
  double ratio = 0;
  Interval interval;  // 90 %, MOVER on the log scale
  std::string missing;
};

// `newer` over `base`.
QuantileRatio RatioOf(const PooledQuantile& newer, const PooledQuantile& base);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_QUANTILE_RATIO_H_
