#include "server/verdict/stratified_rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "server/verdict/distributions.h"
#include "server/verdict/ranks.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

constexpr double kExactBudget = 3e6;  // additions, about 25 against 25 hosts
constexpr double kExactCombinations = 3e5;
constexpr double kIntervalBudget = 3e4;  // about 9 against 9, for each shift
constexpr int kDraws = 9999;
constexpr int kEnoughAsFar = 400;  // then p is known to 5 % of itself
constexpr double kRounding = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Upper tails only: what should be lower is mirrored. Both sides are sorted.
Strata Prepared(const Strata& strata, Direction direction) {
  Strata out;
  for (const StratumValues& stratum : strata) {
    if (stratum.treated.empty() || stratum.controls.empty()) continue;
    out.push_back(stratum);
    for (std::vector<double>* side :
         {&out.back().treated, &out.back().controls}) {
      if (direction == Direction::kLower) {
        for (double& value : *side) value = -value;
      }
      std::sort(side->begin(), side->end());
    }
  }
  return out;
}

double Mirrored(double shift, Direction direction) {
  return direction == Direction::kLower ? -shift : shift;
}

size_t SizeOf(const StratumValues& stratum) {
  return stratum.treated.size() + stratum.controls.size();
}

double WeightOf(const StratumValues& stratum) {
  return 1 / static_cast<double>(SizeOf(stratum) + 1);
}

std::vector<double> Shifted(std::vector<double> values, double shift) {
  for (double& value : values) value -= shift;
  return values;
}

// What one stratum adds to van Elteren's statistic at a shift, and to its
// variance. Sorted sides are merged.
void AddMoments(const StratumValues& stratum, double shift, double* statistic,
                double* variance) {
  const std::vector<double>& t = stratum.treated;
  const std::vector<double>& c = stratum.controls;
  double above = 0;  // pairs in which the treated host is higher; ties half
  double ties = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < t.size() || j < c.size()) {
    const double value = i == t.size()   ? c[j]
                         : j == c.size() ? t[i] - shift
                                         : std::min(t[i] - shift, c[j]);
    const size_t first_i = i;
    const size_t first_j = j;
    while (i < t.size() && t[i] - shift == value) ++i;
    while (j < c.size() && c[j] == value) ++j;
    const auto here_t = static_cast<double>(i - first_i);
    const auto here_c = static_cast<double>(j - first_j);
    above += here_t * (static_cast<double>(first_j) + here_c / 2);
    const double tied = here_t + here_c;
    ties += tied * tied * tied - tied;
  }
  const auto m = static_cast<double>(t.size());
  const auto n = static_cast<double>(c.size());
  const double all = m + n;
  const double weight = WeightOf(stratum);
  *statistic += weight * (above - m * n / 2);
  if (all > 1) {
    *variance +=
        weight * weight * m * n / 12 * ((all + 1) - ties / (all * (all - 1)));
  }
}

double UpperNormalP(const Strata& sorted, double shift) {
  double statistic = 0;
  double variance = 0;
  double step = kInfinity;
  for (const StratumValues& stratum : sorted) {
    AddMoments(stratum, shift, &statistic, &variance);
    step = std::min(step, WeightOf(stratum));
  }
  if (variance <= 0) return 1;
  return NormalUpperTail((statistic - step / 2) / std::sqrt(variance));
}

// One stratum's part of the statistic, with its exact distribution.
struct Part {
  double observed = 0;
  std::vector<std::pair<double, double>>
      distribution;  // value, share; by value
};

double CostOf(const StratumValues& stratum) {
  return RankSumCost(SizeOf(stratum),
                     std::min(stratum.treated.size(), stratum.controls.size()));
}

// The smaller side is summed; for controls the sign turns.
struct RankedStratum {
  std::vector<int64_t> ranks;  // doubled, treated first
  size_t chosen = 0;
  double mean = 0;   // of the sum of `chosen` ranks
  double scale = 0;  // of the sum's distance from it in the statistic
  double observed = 0;
};

RankedStratum Ranked(const StratumValues& stratum, double shift) {
  RankedStratum out;
  out.ranks =
      DoubledMidranks(Shifted(stratum.treated, shift), stratum.controls);
  const bool treated = stratum.treated.size() <= stratum.controls.size();
  out.chosen = treated ? stratum.treated.size() : stratum.controls.size();
  out.mean = static_cast<double>(out.chosen * (out.ranks.size() + 1));
  out.scale = (treated ? 0.5 : -0.5) * WeightOf(stratum);
  const auto first =
      out.ranks.begin() +
      static_cast<std::ptrdiff_t>(treated ? size_t{0} : stratum.treated.size());
  const int64_t sum = std::accumulate(
      first, first + static_cast<std::ptrdiff_t>(out.chosen), int64_t{0});
  out.observed = (static_cast<double>(sum) - out.mean) * out.scale;
  return out;
}

Part PartOf(const RankedStratum& ranked) {
  Part part;
  part.observed = ranked.observed;
  const std::vector<double> shares =
      RankSumDistribution(ranked.ranks, ranked.chosen);
  for (size_t s = 0; s < shares.size(); ++s) {
    if (shares[s] == 0) continue;
    part.distribution.emplace_back(
        (static_cast<double>(s) - ranked.mean) * ranked.scale, shares[s]);
  }
  std::sort(part.distribution.begin(), part.distribution.end());
  return part;
}

// P(the parts from `index` on add up to at least `needed`).
double TailOf(const std::vector<Part>& parts, size_t index, double needed) {
  double tail = 0;
  if (index + 1 == parts.size()) {
    for (const auto& [value, share] : parts[index].distribution) {
      if (value >= needed - kRounding) tail += share;
    }
    return tail;
  }
  for (const auto& [value, share] : parts[index].distribution) {
    tail += share * TailOf(parts, index + 1, needed - value);
  }
  return tail;
}

// Nothing when there are too many labelings to count within `budget`.
std::optional<double> UpperExactP(const Strata& sorted, double shift,
                                  double budget) {
  double cost = 0;
  double combinations = 1;
  for (const StratumValues& stratum : sorted) {
    cost += CostOf(stratum);
    combinations *= static_cast<double>(stratum.treated.size()) *
                        static_cast<double>(stratum.controls.size()) +
                    1;
  }
  if (cost > budget || combinations > std::min(budget, kExactCombinations)) {
    return std::nullopt;
  }
  std::vector<Part> parts;
  double observed = 0;
  for (const StratumValues& stratum : sorted) {
    parts.push_back(PartOf(Ranked(stratum, shift)));
    observed += parts.back().observed;
  }
  return std::clamp(TailOf(parts, 0, observed),
                    std::numeric_limits<double>::min(), 1.0);
}

double UpperSampledP(const Strata& sorted, double shift, uint64_t seed) {
  struct Urn {
    std::vector<uint32_t> ranks;
    size_t chosen;
    double mean;
    double scale;
  };
  std::vector<Urn> urns;
  double observed = 0;
  for (const StratumValues& stratum : sorted) {
    const RankedStratum ranked = Ranked(stratum, shift);
    observed += ranked.observed;
    urns.push_back({{ranked.ranks.begin(), ranked.ranks.end()},
                    ranked.chosen,
                    ranked.mean,
                    ranked.scale});
  }
  SeededRandom random(seed);
  int as_far = 0;
  for (int draw = 1; draw <= kDraws; ++draw) {
    double statistic = 0;
    for (Urn& urn : urns) {
      uint64_t sum = 0;
      uint32_t* const ranks = urn.ranks.data();
      const size_t size = urn.ranks.size();
      for (size_t i = 0; i < urn.chosen; ++i) {
        const size_t j = i + random.Below(size - i);
        const uint32_t rank = ranks[j];
        ranks[j] = ranks[i];
        ranks[i] = rank;
        sum += rank;
      }
      statistic += (static_cast<double>(sum) - urn.mean) * urn.scale;
    }
    as_far += statistic >= observed - kRounding;
    if (as_far == kEnoughAsFar) return static_cast<double>(as_far) / draw;
  }
  return (as_far + 1.0) / (kDraws + 1.0);
}

// Weight of the differences inside strata that are at most `s`. Compares the
// differences as they are computed, so `s` may be one of them.
double WeightUpTo(const Strata& sorted, double s) {
  double weight = 0;
  for (const StratumValues& stratum : sorted) {
    const std::vector<double>& c = stratum.controls;
    size_t too_low = 0;  // controls that make the difference exceed s
    uint64_t pairs = 0;
    for (const double t : stratum.treated) {
      while (too_low < c.size() && t - c[too_low] > s) ++too_low;
      pairs += c.size() - too_low;
    }
    weight += WeightOf(stratum) * static_cast<double>(pairs);
  }
  return weight;
}

// The smallest difference above `s`; infinity when there is none.
double NextDifference(const Strata& sorted, double s) {
  double next = kInfinity;
  for (const StratumValues& stratum : sorted) {
    const std::vector<double>& c = stratum.controls;
    size_t low_enough = 0;  // controls below which the difference exceeds s
    for (const double t : stratum.treated) {
      while (low_enough < c.size() && t - c[low_enough] > s) ++low_enough;
      if (low_enough > 0) next = std::min(next, t - c[low_enough - 1]);
    }
  }
  return next;
}

// The smallest difference up to which the weight is at least `needed`; it lies
// above `low` and is at most `high`.
double WeightedQuantile(const Strata& sorted, double low, double high,
                        double needed) {
  const double fine = 1e-11 * (high - low);
  while (high - low > fine) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (WeightUpTo(sorted, middle) >= needed ? high : low) = middle;
  }
  double quantile = NextDifference(sorted, low);
  while (WeightUpTo(sorted, quantile) < needed) {
    quantile = NextDifference(sorted, quantile);
  }
  return quantile;
}

double UpperIntervalP(const Strata& sorted, double shift) {
  const std::optional<double> exact =
      UpperExactP(sorted, shift, kIntervalBudget);
  return exact.has_value() ? *exact : UpperNormalP(sorted, shift);
}

// The smallest shift whose upper test is not rejected at `tail`.
double LowerEnd(const Strata& sorted, double least, double most, double tail) {
  double low = least - 1;
  double high = most + 1;
  if (UpperIntervalP(sorted, low) > tail) return -kInfinity;
  while (high - low > 1e-7 * std::max(1.0, std::abs(low))) {
    const double middle = low + (high - low) / 2;
    (UpperIntervalP(sorted, middle) > tail ? high : low) = middle;
  }
  return high;
}

void Range(const Strata& sorted, double* least, double* most) {
  *least = kInfinity;
  *most = -kInfinity;
  for (const StratumValues& stratum : sorted) {
    *least =
        std::min(*least, stratum.treated.front() - stratum.controls.back());
    *most = std::max(*most, stratum.treated.back() - stratum.controls.front());
  }
}

double MedianOf(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

StratifiedTest TestStratified(const Strata& strata, double shift,
                              Direction direction, uint64_t seed) {
  const Strata sorted = Prepared(strata, direction);
  if (sorted.empty()) return {};
  const double s = Mirrored(shift, direction);
  const std::optional<double> exact = UpperExactP(sorted, s, kExactBudget);
  if (exact.has_value()) return {*exact, true};
  return {UpperSampledP(sorted, s, seed), false};
}

double NormalP(const Strata& strata, double shift, Direction direction) {
  const Strata sorted = Prepared(strata, direction);
  if (sorted.empty()) return 1;
  return std::max(UpperNormalP(sorted, Mirrored(shift, direction)),
                  std::numeric_limits<double>::min());
}

double LargestPWithoutOneHost(const Strata& strata, double shift,
                              Direction direction) {
  const Strata sorted = Prepared(strata, direction);
  const double s = Mirrored(shift, direction);
  double largest = 0;
  const auto without = [&](size_t index, bool treated) {
    Strata rest = sorted;
    StratumValues& stratum = rest[index];
    // Nobody else of the stratum lowers the statistic by as much.
    if (treated) {
      stratum.treated.pop_back();
    } else {
      stratum.controls.erase(stratum.controls.begin());
    }
    if (stratum.treated.empty() || stratum.controls.empty()) {
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
    }
    if (rest.empty()) {
      largest = 1;
      return;
    }
    const std::optional<double> exact = UpperExactP(rest, s, kExactBudget / 10);
    largest =
        std::max(largest, exact.has_value() ? *exact : UpperNormalP(rest, s));
  };
  for (size_t i = 0; i < sorted.size(); ++i) {
    without(i, true);
    without(i, false);
  }
  return sorted.empty() ? 1 : largest;
}

double SmallestStratifiedP(const Strata& strata) {
  double log_ways = 0;
  double cost = 0;
  double combinations = 1;
  for (const StratumValues& stratum : strata) {
    const auto m = static_cast<double>(stratum.treated.size());
    const auto n = static_cast<double>(stratum.controls.size());
    log_ways +=
        std::lgamma(m + n + 1) - std::lgamma(m + 1) - std::lgamma(n + 1);
    cost += CostOf(stratum);
    combinations *= m * n + 1;
  }
  const bool exact = cost <= kExactBudget && combinations <= kExactCombinations;
  return std::clamp(
      std::exp(-log_ways),
      exact ? std::numeric_limits<double>::min() : 1 / (kDraws + 1.0), 1.0);
}

Shift StratifiedShift(const Strata& strata, double tail) {
  const Strata sorted = Prepared(strata, Direction::kHigher);
  Shift shift;
  double least = 0;
  double most = 0;
  Range(sorted, &least, &most);
  const double half = WeightUpTo(sorted, most) / 2;
  const double below = std::nextafter(least, -kInfinity);
  const double lower =
      WeightedQuantile(sorted, below, most, half * (1 - 1e-12));
  const double upper =
      WeightedQuantile(sorted, below, most, half * (1 + 1e-12));
  shift.estimate = lower + (upper - lower) / 2;
  shift.lower = LowerEnd(sorted, least, most, tail);
  const Strata mirrored = Prepared(strata, Direction::kLower);
  shift.upper = -LowerEnd(mirrored, -most, -least, tail);
  return shift;
}

double SpreadInsideStrata(const Strata& strata) {
  std::vector<double> distances;
  for (const StratumValues& stratum : strata) {
    for (const auto* side : {&stratum.treated, &stratum.controls}) {
      if (side->size() < 3) continue;
      const double median = MedianOf(*side);
      for (const double value : *side) {
        distances.push_back(std::abs(value - median));
      }
    }
  }
  return distances.empty() ? 0 : 1.4826 * MedianOf(std::move(distances));
}

}  // namespace swaplock
