#include "cli/compare/comparison_judgement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "cli/report/printed_number.h"
#include "server/verdict/rank_test.h"

namespace swaplock {
namespace {

// Used only for samples too large to enumerate; any number does.
constexpr uint64_t kSeed = 0x5eed;

// Rounding must not turn a p of exactly the limit into one above it.
constexpr double kRounding = 1e-12;

std::vector<double> Times(const std::vector<double>& values, double factor) {
  std::vector<double> out = values;
  for (double& value : out) value *= factor;
  return out;
}

// Sum of the ranks of `b` less what it would be by chance, doubled.
int64_t RankExcess(const std::vector<double>& a, const std::vector<double>& b) {
  int64_t excess = 0;
  for (const double y : b) {
    for (const double x : a) excess += y > x ? 1 : y < x ? -1 : 0;
  }
  return excess;
}

// That `high` is above `low` by no more than the margin.
double MarginP(const std::vector<double>& low,
               const std::vector<double>& high) {
  const std::vector<double> raised = Times(low, kMargin);
  if (RankExcess(raised, high) <= 0) return 1;
  return TestRanks(raised, high, kSeed).p_value;
}

bool OneValue(const std::vector<double>& a, const std::vector<double>& b) {
  const auto same = [&](double value) { return value == a[0]; };
  return std::all_of(a.begin(), a.end(), same) &&
         std::all_of(b.begin(), b.end(), same);
}

// Sum of the squares of the logarithms' distances from their mean.
std::optional<double> LogScatter(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    if (value <= 0) return std::nullopt;
    sum += std::log(value);
  }
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) {
    squares += (std::log(value) - mean) * (std::log(value) - mean);
  }
  return squares;
}

// n = 1.25 * 2 * ((z + z') * s / (log ratio - log margin))^2 runs a side are
// needed for 80 % power: a t-test's number and a quarter more, solved for the
// ratio.
std::optional<double> Detectable(const std::vector<double>& a,
                                 const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const std::optional<double> of_a = LogScatter(a);
  const std::optional<double> of_b = LogScatter(b);
  if (!of_a.has_value() || !of_b.has_value()) return std::nullopt;
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  const double deviation = std::sqrt((*of_a + *of_b) / (m + n - 2));
  const double runs = 2 / (1 / m + 1 / n);
  constexpr double kQuantiles = 1.959964 + 0.841621;  // 5 % two-sided, 80 %
  return std::exp(std::log(kMargin) +
                  kQuantiles * deviation * std::sqrt(1.25 * 2 / runs));
}

}  // namespace

Judgement Judge(const std::vector<double>& base,
                const std::vector<double>& newer) {
  Judgement out;
  const std::optional<Spread> from = SpreadOf(base);
  const std::optional<Spread> to = SpreadOf(newer);
  if (!from.has_value() || !to.has_value()) return out;
  out.direction = to->median > from->median   ? 1
                  : to->median < from->median ? -1
                                              : 0;
  if (from->median > 0 && to->median > 0) out.ratio = to->median / from->median;
  out.detectable = Detectable(base, newer);
  if (OneValue(base, newer)) return out;
  const RankTest test = TestRanks(base, newer, kSeed);
  out.p = test.p_value;
  out.exact = test.exact;
  if (out.direction > 0) out.p_margin = MarginP(base, newer);
  if (out.direction < 0) out.p_margin = MarginP(newer, base);
  return out;
}

void Adjust(absl::Span<Judgement* const> judged) {
  std::vector<Judgement*> tested;
  for (Judgement* judgement : judged) {
    if (judgement->p.has_value()) tested.push_back(judgement);
  }
  std::stable_sort(
      tested.begin(), tested.end(),
      [](const Judgement* a, const Judgement* b) { return *a->p < *b->p; });
  double above = 1;
  for (size_t i = tested.size(); i-- > 0;) {
    const double share =
        static_cast<double>(tested.size()) / static_cast<double>(i + 1);
    above = std::min(above, *tested[i]->p * share);
    tested[i]->p_adjusted = above;
  }
}

size_t FewestRuns(double p) {
  size_t runs = 1;
  while (SmallestRankTestP(runs, runs) > p + kRounding) ++runs;
  return runs;
}

}  // namespace swaplock
