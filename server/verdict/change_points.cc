#include "server/verdict/change_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

struct Split {
  size_t at = 0;  // first of the right side
  double divergence = -1;
};

// The scaled energy distances of all splits of x, with the best one.
struct Splits {
  std::vector<double> divergence;  // by the first index of the right side
  Split best;
};

Splits SplitsOf(const std::vector<double>& x, size_t min_segment) {
  Splits out;
  const size_t n = x.size();
  out.divergence.assign(n + 1, -1);
  if (n < 2 * min_segment || min_segment < 2) return out;
  // Sums of distances within the left side, the right side and across.
  double within_left = 0;
  double within_right = 0;
  double across = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) within_right += std::abs(x[i] - x[j]);
  }
  for (size_t at = 1; at < n; ++at) {
    // x[at - 1] moves from the right to the left.
    double to_left = 0;
    double to_right = 0;
    for (size_t i = 0; i + 1 < at; ++i) to_left += std::abs(x[i] - x[at - 1]);
    for (size_t i = at; i < n; ++i) to_right += std::abs(x[i] - x[at - 1]);
    within_left += to_left;
    within_right -= to_right;
    across += to_right - to_left;
    if (at < min_segment || n - at < min_segment) continue;
    const auto m = static_cast<double>(at);
    const auto k = static_cast<double>(n - at);
    const double energy = 2 * across / (m * k) -
                          2 * within_left / (m * (m - 1)) -
                          2 * within_right / (k * (k - 1));
    out.divergence[at] = m * k / (m + k) * energy;
    if (out.divergence[at] > out.best.divergence) {
      out.best = {at, out.divergence[at]};
    }
  }
  return out;
}

double Median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

class Search {
 public:
  Search(const std::vector<double>& series, const ChangePointRules& rules,
         uint64_t seed)
      : series_(series), rules_(rules), random_(seed) {}

  void Divide(size_t begin, size_t end) {
    const std::vector<double> x = Slice(begin, end);
    const Splits splits = SplitsOf(x, rules_.min_segment);
    if (splits.best.at == 0) return;
    const double p = PermutationP(x, splits.best.divergence);
    if (p > rules_.max_p) return;
    const size_t at = begin + splits.best.at;
    ChangePoint point;
    point.index = at;
    point.p_value = p;
    point.first = at;
    point.last = at;
    for (size_t i = 0; i < splits.divergence.size(); ++i) {
      if (splits.divergence[i] < 0.9 * splits.best.divergence) continue;
      point.first = std::min(point.first, begin + i);
      point.last = std::max(point.last, begin + i);
    }
    points_.push_back(point);
    Divide(begin, at);
    Divide(at, end);
  }

  std::vector<ChangePoint> Take() {
    std::sort(points_.begin(), points_.end(),
              [](const ChangePoint& a, const ChangePoint& b) {
                return a.index < b.index;
              });
    std::vector<ChangePoint> out;
    for (size_t i = 0; i < points_.size(); ++i) {
      const size_t begin = i == 0 ? 0 : points_[i - 1].index;
      const size_t end =
          i + 1 == points_.size() ? series_.size() : points_[i + 1].index;
      ChangePoint point = points_[i];
      const double before = Median(Slice(begin, point.index));
      const double after = Median(Slice(point.index, end));
      point.ratio = std::exp(after - before);
      if (std::abs(after - before) < std::log(rules_.min_ratio)) continue;
      if (!Persists(before, after, point.index, end)) continue;
      out.push_back(point);
    }
    return out;
  }

 private:
  std::vector<double> Slice(size_t begin, size_t end) const {
    return {series_.begin() + static_cast<std::ptrdiff_t>(begin),
            series_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  double PermutationP(std::vector<double> x, double observed) {
    int as_far = 0;
    for (int draw = 0; draw < rules_.permutations; ++draw) {
      for (size_t i = 0; i + 1 < x.size(); ++i) {
        std::swap(x[i], x[i + random_.Below(x.size() - i)]);
      }
      as_far +=
          SplitsOf(x, rules_.min_segment).best.divergence >= observed - 1e-12;
      // It cannot become significant any more.
      if (as_far + 1 > rules_.max_p * (rules_.permutations + 1)) break;
    }
    return (as_far + 1.0) / (rules_.permutations + 1.0);
  }

  // One spike is no change of level.
  bool Persists(double before, double after, size_t begin, size_t end) const {
    size_t in_a_row = 0;
    for (size_t i = begin; i < end; ++i) {
      const double middle = before + (after - before) / 2;
      const bool beyond =
          after > before ? series_[i] > middle : series_[i] < middle;
      in_a_row = beyond ? in_a_row + 1 : 0;
      if (in_a_row >= rules_.persistence) return true;
    }
    return false;
  }

  const std::vector<double>& series_;
  const ChangePointRules& rules_;
  SeededRandom random_;
  std::vector<ChangePoint> points_;
};

}  // namespace

std::vector<ChangePoint> FindChangePoints(const std::vector<double>& log_levels,
                                          const ChangePointRules& rules,
                                          uint64_t seed) {
  Search search(log_levels, rules, seed);
  search.Divide(0, log_levels.size());
  return search.Take();
}

}  // namespace swaplock
