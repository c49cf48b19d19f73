#include "server/verdict/matched_pairs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_format.h"

namespace swaplock {
namespace {

double SpreadOf(const Stratum& stratum, const std::vector<HostBefore>& hosts,
                double HostBefore::*value) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const auto* side : {&stratum.treated, &stratum.controls}) {
    for (const size_t i : *side) {
      sum += hosts[i].*value;
      squares += hosts[i].*value * hosts[i].*value;
      ++count;
    }
  }
  const double variance = squares / count - (sum / count) * (sum / count);
  return variance > 1e-12 ? std::sqrt(variance) : 1;
}

}  // namespace

std::vector<MatchedPair> MatchPairs(const std::vector<Stratum>& strata,
                                    const std::vector<HostBefore>& hosts) {
  const auto order = [&](size_t i, size_t j) {
    return std::tie(hosts[i].boot_day, hosts[i].tie_breaker, i) <
           std::tie(hosts[j].boot_day, hosts[j].tie_breaker, j);
  };
  std::vector<MatchedPair> pairs;
  for (const Stratum& stratum : strata) {
    const double rate = SpreadOf(stratum, hosts, &HostBefore::log_rate);
    const double exposure = SpreadOf(stratum, hosts, &HostBefore::log_exposure);
    std::vector<size_t> treated = stratum.treated;
    std::sort(treated.begin(), treated.end(), order);
    std::vector<size_t> free = stratum.controls;
    std::sort(free.begin(), free.end(), order);
    for (const size_t host : treated) {
      if (free.empty()) break;
      size_t nearest = 0;
      double least = INFINITY;
      for (size_t i = 0; i < free.size(); ++i) {
        const HostBefore& control = hosts[free[i]];
        const double by_rate = (control.log_rate - hosts[host].log_rate) / rate;
        const double by_exposure =
            (control.log_exposure - hosts[host].log_exposure) / exposure;
        const double distance = by_rate * by_rate + by_exposure * by_exposure;
        if (distance < least) {
          least = distance;
          nearest = i;
        }
      }
      pairs.push_back({host, free[nearest]});
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(nearest));
    }
  }
  std::sort(pairs.begin(), pairs.end(),
            [&](const MatchedPair& a, const MatchedPair& b) {
              return order(a.treated, b.treated);
            });
  return pairs;
}

std::vector<Holdback> AdviseHoldback(const std::vector<Stratum>& strata,
                                     const std::vector<MatchedPair>& pairs) {
  std::set<size_t> paired;
  for (const MatchedPair& pair : pairs) paired.insert(pair.treated);
  std::vector<Holdback> out;
  for (const Stratum& stratum : strata) {
    Holdback advice;
    advice.stratum = stratum.name;
    advice.treated = stratum.treated.size();
    advice.controls = stratum.controls.size();
    for (const size_t i : stratum.treated) {
      advice.unpaired += paired.count(i) == 0;
    }
    const uint64_t all = advice.treated + advice.controls;
    advice.keep = std::max<uint64_t>(8, (all + 9) / 10);
    if (advice.unpaired > 0) {
      advice.advice = absl::StrFormat(
          "%s: %d upgraded hosts have no host on the base build to be "
          "compared with; keep %d there until the rollout is judged",
          stratum.name, advice.unpaired, advice.keep);
    } else if (advice.controls < advice.keep) {
      advice.advice = absl::StrFormat(
          "%s: %d hosts are left on the base build; keep %d there until the "
          "rollout is judged",
          stratum.name, advice.controls, advice.keep);
    }
    out.push_back(std::move(advice));
  }
  return out;
}

}  // namespace swaplock
