// Pairs of an upgraded host and one that was not, fixed before anything of the
// time after the upgrade is looked at.
#ifndef SWAPLOCK_SERVER_VERDICT_MATCHED_PAIRS_H_
#define SWAPLOCK_SERVER_VERDICT_MATCHED_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/verdict/strata.h"

namespace swaplock {

// What a host looked like before.
struct HostBefore {
  double log_rate = 0;
  double log_exposure = 0;
  int64_t boot_day = 0;
  uint64_t tie_breaker = 0;  // a seeded hash of the host
};

struct MatchedPair {
  size_t treated = 0;  // indices of the hosts given
  size_t control = 0;
};

// Each upgraded host, in the order of boot days, takes the nearest control of
// its stratum that is still free (scaled distance of log rate and log
// exposure); a control is used once. In the order in which pairs close.
std::vector<MatchedPair> MatchPairs(const std::vector<Stratum>& strata,
                                    const std::vector<HostBefore>& hosts);

// How many hosts should stay on the base build so that evidence goes on
// growing.
struct Holdback {
  std::string stratum;
  uint64_t treated = 0;
  uint64_t controls = 0;
  uint64_t unpaired = 0;  // upgraded hosts that found no free control
  uint64_t keep = 0;      // a tenth of the stratum, at least 8 hosts
  std::string advice;     // one sentence; empty when nothing is amiss
};

std::vector<Holdback> AdviseHoldback(const std::vector<Stratum>& strata,
                                     const std::vector<MatchedPair>& pairs);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_MATCHED_PAIRS_H_
