#include "server/verdict/alike_exposures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace swaplock {
namespace {

// Where `value` lies among `sorted`, 0..1; equal values lie in the middle.
double RankOf(double value, const std::vector<double>& sorted) {
  const auto range = std::equal_range(sorted.begin(), sorted.end(), value);
  const auto below = static_cast<double>(range.first - sorted.begin());
  const auto up_to = static_cast<double>(range.second - sorted.begin());
  return (below + up_to) / 2 / static_cast<double>(sorted.size());
}

double AtRank(double rank, const std::vector<double>& sorted) {
  const auto last = static_cast<double>(sorted.size() - 1);
  const double at =
      std::clamp(rank * static_cast<double>(sorted.size()) - 0.5, 0.0, last);
  const double whole = std::floor(at);
  const auto i = static_cast<size_t>(whole);
  if (i + 1 == sorted.size()) return sorted[i];
  return sorted[i] + (at - whole) * (sorted[i + 1] - sorted[i]);
}

std::vector<double> Shares(const std::vector<double>& own,
                           const std::vector<double>& others) {
  std::vector<double> own_sorted = own;
  std::vector<double> others_sorted = others;
  std::sort(own_sorted.begin(), own_sorted.end());
  std::sort(others_sorted.begin(), others_sorted.end());
  std::vector<double> shares;
  for (const double change : own) {
    const double target = AtRank(RankOf(change, own_sorted), others_sorted);
    shares.push_back(std::exp(std::min(0.0, target - change)));
  }
  return shares;
}

}  // namespace

KeptShares MakeExposuresAlike(const std::vector<double>& treated,
                              const std::vector<double>& controls) {
  if (treated.empty() || controls.empty()) {
    return {std::vector<double>(treated.size(), 1),
            std::vector<double>(controls.size(), 1)};
  }
  return {Shares(treated, controls), Shares(controls, treated)};
}

}  // namespace swaplock
