#include "server/verdict/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "server/verdict/distributions.h"

namespace swaplock {
namespace {

// How many of the means of two values, each with itself too, are at most `s`.
uint64_t MeansUpTo(const std::vector<double>& sorted, double s) {
  uint64_t count = 0;
  size_t end = sorted.size();
  for (size_t i = 0; i < sorted.size(); ++i) {
    while (end > 0 && (sorted[i] + sorted[end - 1]) / 2 > s) --end;
    if (end > i) count += end - i;  // partners i .. end - 1
  }
  return count;
}

double MeanOfRank(const std::vector<double>& sorted, uint64_t rank) {
  double low =
      std::nextafter(sorted.front(), -std::numeric_limits<double>::infinity());
  double high = sorted.back();
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (MeansUpTo(sorted, middle) >= rank ? high : low) = middle;
  }
}

}  // namespace

double SignedRankP(const std::vector<double>& values, double centre,
                   Direction direction) {
  std::vector<std::pair<double, bool>> distances;
  for (const double value : values) {
    const double d =
        direction == Direction::kLower ? centre - value : value - centre;
    if (d != 0) distances.emplace_back(std::abs(d), d > 0);
  }
  if (distances.empty()) return 1;
  std::sort(distances.begin(), distances.end());
  const auto n = static_cast<double>(distances.size());
  double sum = 0;
  double ties = 0;
  for (size_t begin = 0; begin < distances.size();) {
    size_t end = begin;
    while (end < distances.size() &&
           distances[end].first == distances[begin].first) {
      ++end;
    }
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    const auto tied = static_cast<double>(end - begin);
    ties += tied * tied * tied - tied;
    for (size_t i = begin; i < end; ++i) sum += distances[i].second ? rank : 0;
    begin = end;
  }
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
  const double p =
      NormalUpperTail((sum - n * (n + 1) / 4 - 0.5) / std::sqrt(variance));
  return std::clamp(p, std::numeric_limits<double>::min(), 1.0);
}

Shift PseudoMedian(const std::vector<double>& values, double tail) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const uint64_t n = sorted.size();
  const uint64_t all = n * (n + 1) / 2;
  Shift shift;
  shift.estimate =
      (MeanOfRank(sorted, (all + 1) / 2) + MeanOfRank(sorted, all / 2 + 1)) / 2;
  const auto size = static_cast<double>(n);
  const double deviation = std::sqrt(size * (size + 1) * (2 * size + 1) / 24);
  const double k =
      static_cast<double>(all) / 2 + NormalQuantile(tail) * deviation - 0.5;
  const double infinity = std::numeric_limits<double>::infinity();
  if (k < 1) {
    shift.lower = -infinity;
    shift.upper = infinity;
    return shift;
  }
  const auto rank = static_cast<uint64_t>(k);
  shift.lower = MeanOfRank(sorted, rank);
  shift.upper = MeanOfRank(sorted, all - rank + 1);
  return shift;
}

}  // namespace swaplock
