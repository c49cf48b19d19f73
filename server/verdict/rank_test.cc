#include "server/verdict/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "server/verdict/ranks.h"

namespace swaplock {
namespace {

// Steps that counting all labelings may take: about 46 against 46 hosts, 20 ms.
constexpr double kExactBudget = 2e7;
constexpr int kDraws = 9999;

// A number below `bound`. Not std::uniform_int_distribution, whose output the
// standard leaves open; the bias is below bound / 2^64.
size_t Below(std::mt19937_64* random, size_t bound) {
  return static_cast<size_t>((*random)() % bound);
}

double SampledP(std::vector<int64_t> ranks, size_t chosen, int64_t observed,
                int64_t mean, uint64_t seed) {
  std::mt19937_64 random(seed);
  int as_far = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    int64_t sum = 0;
    for (size_t i = 0; i < chosen; ++i) {
      std::swap(ranks[i], ranks[i + Below(&random, ranks.size() - i)]);
      sum += ranks[i];
    }
    as_far += std::llabs(sum - mean) >= observed;
  }
  return (as_far + 1.0) / (kDraws + 1.0);
}

}  // namespace

RankTest TestRanks(const std::vector<double>& a, const std::vector<double>& b,
                   uint64_t seed) {
  if (a.empty() || b.empty()) return {};
  const std::vector<int64_t> ranks = DoubledMidranks(a, b);
  // The smaller side decides the cost, and both sides give the same p.
  const bool use_a = a.size() <= b.size();
  const size_t chosen = use_a ? a.size() : b.size();
  const auto first =
      ranks.begin() + static_cast<std::ptrdiff_t>(use_a ? size_t{0} : a.size());
  const int64_t sum = std::accumulate(
      first, first + static_cast<std::ptrdiff_t>(chosen), int64_t{0});
  // Doubled ranks have the mean N + 1: always an integer.
  const auto mean = static_cast<int64_t>(chosen * (ranks.size() + 1));
  const int64_t distance = std::llabs(sum - mean);
  if (RankSumCost(ranks.size(), chosen) > kExactBudget) {
    return {SampledP(ranks, chosen, distance, mean, seed), false};
  }
  const std::vector<double> shares = RankSumDistribution(ranks, chosen);
  double p = 0;
  for (size_t s = 0; s < shares.size(); ++s) {
    if (std::llabs(static_cast<int64_t>(s) - mean) >= distance) p += shares[s];
  }
  return {std::clamp(p, std::numeric_limits<double>::min(), 1.0), true};
}

double SmallestRankTestP(size_t m, size_t n) {
  if (m == 0 || n == 0) return 1;
  const double log_ways = std::lgamma(static_cast<double>(m + n) + 1) -
                          std::lgamma(static_cast<double>(m) + 1) -
                          std::lgamma(static_cast<double>(n) + 1);
  return std::clamp(2 * std::exp(-log_ways), std::numeric_limits<double>::min(),
                    1.0);
}

Shift HodgesLehmann(const std::vector<double>& a, const std::vector<double>& b,
                    double tail) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double x : a) {
    for (const double y : b) differences.push_back(y - x);
  }
  std::sort(differences.begin(), differences.end());
  const size_t all = differences.size();
  Shift shift;
  shift.estimate = (differences[(all - 1) / 2] + differences[all / 2]) / 2;

  // The largest k with P(U < k) <= tail; the interval goes from the k-th
  // smallest difference to the k-th largest.
  size_t k = 0;
  const size_t total = a.size() + b.size();
  const size_t chosen = std::min(a.size(), b.size());
  if (RankSumCost(total, chosen) <= kExactBudget) {
    std::vector<int64_t> ranks(total);
    for (size_t i = 0; i < total; ++i) ranks[i] = static_cast<int64_t>(i + 1);
    const std::vector<double> shares = RankSumDistribution(ranks, chosen);
    const size_t least = chosen * (chosen + 1) / 2;  // rank sum where U is 0
    double below = 0;
    while (k < all && below + shares[least + k] <= tail) {
      below += shares[least + k];
      ++k;
    }
  } else {
    const double mean = static_cast<double>(all) / 2;
    const double deviation = std::sqrt(static_cast<double>(all) *
                                       static_cast<double>(total + 1) / 12);
    // Standard normal quantile by bisection of its distribution function.
    double low = -40;
    double high = 0;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < tail ? low : high) = middle;
    }
    k = static_cast<size_t>(std::max(0.0, mean + low * deviation - 0.5));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  shift.lower = k == 0 ? -infinity : differences[k - 1];
  shift.upper = k == 0 ? infinity : differences[all - k];
  return shift;
}

}  // namespace swaplock
