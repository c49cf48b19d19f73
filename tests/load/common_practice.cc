#include "tests/load/common_practice.h"

#include <cmath>
#include <cstddef>
#include <random>

#include "server/verdict/change_points.h"
#include "server/verdict/distributions.h"
#include "server/verdict/stratified_rank_test.h"

namespace swaplock {
namespace {

constexpr int kDays = 7;

struct Total {
  double events = 0;
  double operations = 0;
};

Total OfDay(const std::vector<HostSeries>& series, bool treated, int day) {
  Total total;
  for (const HostSeries& host : series) {
    if (host.treated != treated) continue;
    total.events += host.events[static_cast<size_t>(day)];
    total.operations += host.operations[static_cast<size_t>(day)];
  }
  return total;
}

// A day's events fall into its hours like independent ones.
std::vector<double> HourlyRates(const std::vector<HostSeries>& series,
                                bool treated, std::mt19937_64* random) {
  std::vector<double> rates;
  for (int day = kRebootAt; day < kRebootAt + kDays; ++day) {
    const Total total = OfDay(series, treated, day);
    auto left = static_cast<uint64_t>(total.events);
    for (int hour = 0; hour < 24; ++hour) {
      std::binomial_distribution<uint64_t> here(left, 1.0 / (24 - hour));
      const uint64_t events = hour == 23 ? left : here(*random);
      left -= events;
      rates.push_back(static_cast<double>(events) / (total.operations / 24));
    }
  }
  return rates;
}

}  // namespace

int MannWhitneyOverTime(const std::vector<HostSeries>& series, uint64_t seed) {
  std::mt19937_64 random(seed);
  const Strata points = {{HourlyRates(series, true, &random),
                          HourlyRates(series, false, &random)}};
  if (NormalP(points, 0, Direction::kHigher) <= 0.025) return 1;
  return NormalP(points, 0, Direction::kLower) <= 0.025 ? -1 : 0;
}

int WelchOnMeans(const std::vector<HostSeries>& series) {
  double n[2] = {};
  double sum[2] = {};
  double squares[2] = {};
  for (const HostSeries& host : series) {
    double events = 0;
    double operations = 0;
    for (size_t day = kRebootAt; day < kRebootAt + kDays; ++day) {
      events += host.events[day];
      operations += host.operations[day];
    }
    const double rate = 1e6 * events / operations;
    ++n[host.treated];
    sum[host.treated] += rate;
    squares[host.treated] += rate * rate;
  }
  double part[2];
  for (const int arm : {0, 1}) {
    part[arm] =
        (squares[arm] - sum[arm] * sum[arm] / n[arm]) / (n[arm] - 1) / n[arm];
  }
  const double error = part[0] + part[1];
  if (!(error > 0)) return 0;
  const double t = (sum[1] / n[1] - sum[0] / n[0]) / std::sqrt(error);
  const double degrees =
      error * error /
      (part[0] * part[0] / (n[0] - 1) + part[1] * part[1] / (n[1] - 1));
  const double bar = StudentQuantile(0.975, degrees);
  return t > bar ? 1 : t < -bar ? -1 : 0;
}

int RatioAlert(const std::vector<HostSeries>& series) {
  Total arms[2];
  for (int day = kRebootAt; day < kRebootAt + kDays; ++day) {
    for (const int arm : {0, 1}) {
      const Total total = OfDay(series, arm == 1, day);
      arms[arm].events += total.events;
      arms[arm].operations += total.operations;
    }
  }
  if (arms[0].events + arms[1].events < 20) return 0;
  const double ratio = arms[1].events / arms[1].operations /
                       (arms[0].events / arms[0].operations);
  return ratio > 1.10 ? 1 : ratio < 1 / 1.10 ? -1 : 0;
}

int EDivisive(const std::vector<HostSeries>& series, uint64_t seed) {
  std::vector<double> levels;
  for (int day = 0; day < kSeriesDays; ++day) {
    const Total total = OfDay(series, true, day);
    levels.push_back(std::log((total.events + 0.5) / total.operations));
  }
  for (const ChangePoint& point : FindChangePoints(levels, {}, seed)) {
    if (std::abs(static_cast<int>(point.index) - kRebootAt) > 3) continue;
    return point.ratio > 1 ? 1 : -1;
  }
  return 0;
}

}  // namespace swaplock
