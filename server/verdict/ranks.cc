#include "server/verdict/ranks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace swaplock {

std::vector<int64_t> DoubledMidranks(const std::vector<double>& a,
                                     const std::vector<double>& b) {
  std::vector<double> pooled = a;
  pooled.insert(pooled.end(), b.begin(), b.end());
  std::vector<size_t> order(pooled.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return pooled[i] < pooled[j]; });
  std::vector<int64_t> ranks(pooled.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && pooled[order[end]] == pooled[order[begin]]) {
      ++end;
    }
    // Ranks begin+1 .. end share their mean, (begin + 1 + end) / 2.
    for (size_t i = begin; i < end; ++i) {
      ranks[order[i]] = static_cast<int64_t>(begin + 1 + end);
    }
    begin = end;
  }
  return ranks;
}

double RankSumCost(size_t total, size_t chosen) {
  const auto n = static_cast<double>(total);
  return n * static_cast<double>(chosen) * n * (n + 1) / 2;
}

std::vector<double> RankSumDistribution(const std::vector<int64_t>& ranks,
                                        size_t chosen) {
  const auto top = static_cast<size_t>(
      std::accumulate(ranks.begin(), ranks.end(), int64_t{0}));
  // ways[k][s]: subsets of size k among the ranks seen so far.
  std::vector<std::vector<double>> ways(chosen + 1,
                                        std::vector<double>(top + 1, 0));
  ways[0][0] = 1;
  size_t seen = 0;
  size_t reach = 0;
  for (const int64_t rank : ranks) {
    const auto r = static_cast<size_t>(rank);
    ++seen;
    reach += r;
    for (size_t k = std::min(seen, chosen); k >= 1; --k) {
      double* const with = ways[k].data();
      const double* const without = ways[k - 1].data();
      for (size_t s = reach; s >= r; --s) with[s] += without[s - r];
    }
  }
  std::vector<double>& counts = ways[chosen];
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double& count : counts) count /= all;
  return std::move(counts);
}

}  // namespace swaplock
