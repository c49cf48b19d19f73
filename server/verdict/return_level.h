// What the longest holds of equal exposure would be: a maximum alone grows with
// the number of hosts and days, and compares with nothing.
#ifndef SWAPLOCK_SERVER_VERDICT_RETURN_LEVEL_H_
#define SWAPLOCK_SERVER_VERDICT_RETURN_LEVEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/verdict/distributions.h"

namespace swaplock {

struct ReturnLevel {
  uint64_t host_days = 0;
  uint64_t longest_ns = 0;
  uint64_t days_over_10ms = 0;
  // Passed once in 1,000 host-days on average; 0 where `missing` says why.
  double level_ns = 0;
  Interval interval_ns;  // 90 %, by drawing hosts with replacement
  double shape = 0;      // of the generalised Pareto tail
  std::string missing;   // one clause; empty when there is a level
  // Where no host-day passed 10 ms: fewer than this share does, at 95 % (the
  // rule of three). 0 otherwise.
  double share_bound = 0;
};

// `hosts`: each host's longest hold of each day, 0 where it had none.
// Generalised Pareto, by probability-weighted moments of what exceeds 10 ms;
// needs 50 such days.
ReturnLevel LongestOf1000HostDays(
    const std::vector<std::vector<uint64_t>>& hosts, uint64_t seed);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_RETURN_LEVEL_H_
