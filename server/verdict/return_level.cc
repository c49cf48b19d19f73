#include "server/verdict/return_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

constexpr double kThresholdNs = 1e7;
constexpr double kPeriod = 1000;  // host-days
constexpr uint64_t kMinDays = 50;
constexpr double kHeaviestShape = 0.5;
constexpr int kReplicates = 200;

struct Tail {
  std::vector<double> excesses_ns;
  uint64_t host_days = 0;
};

void AddHost(const std::vector<uint64_t>& days, Tail* tail) {
  tail->host_days += days.size();
  for (const uint64_t ns : days) {
    if (static_cast<double>(ns) > kThresholdNs) {
      tail->excesses_ns.push_back(static_cast<double>(ns) - kThresholdNs);
    }
  }
}

struct Pareto {
  double shape = 0;
  double scale_ns = 0;
};

// Hosking and Wallis 1987, with the sign of the shape turned: above 0 is heavy.
Pareto Fit(std::vector<double> excesses) {
  std::sort(excesses.begin(), excesses.end());
  const auto n = static_cast<double>(excesses.size());
  double mean = 0;
  double weighted = 0;
  for (size_t i = 0; i < excesses.size(); ++i) {
    mean += excesses[i] / n;
    weighted += excesses[i] * (n - 1 - static_cast<double>(i)) / (n - 1) / n;
  }
  Pareto fit;
  fit.shape = 2 - mean / (mean - 2 * weighted);
  fit.scale_ns = 2 * mean * weighted / (mean - 2 * weighted);
  return fit;
}

double LevelOf(const Pareto& fit, double share) {
  const double times = kPeriod * share;  // that 10 ms is passed in a period
  if (times <= 1) return kThresholdNs;
  return kThresholdNs +
         (std::abs(fit.shape) < 1e-6
              ? fit.scale_ns * std::log(times)
              : fit.scale_ns / fit.shape * (std::pow(times, fit.shape) - 1));
}

double ShareOf(const Tail& tail) {
  return static_cast<double>(tail.excesses_ns.size()) /
         static_cast<double>(tail.host_days);
}

}  // namespace

ReturnLevel LongestOf1000HostDays(
    const std::vector<std::vector<uint64_t>>& hosts, uint64_t seed) {
  ReturnLevel out;
  Tail all;
  for (const std::vector<uint64_t>& days : hosts) {
    AddHost(days, &all);
    for (const uint64_t ns : days)
      out.longest_ns = std::max(out.longest_ns, ns);
  }
  out.host_days = all.host_days;
  out.days_over_10ms = all.excesses_ns.size();
  if (out.days_over_10ms == 0) {
    out.missing =
        absl::StrFormat("no hold over 10 ms in %d host-days", out.host_days);
    if (out.host_days > 0) {
      out.share_bound = std::min(1.0, 3 / static_cast<double>(out.host_days));
    }
    return out;
  }
  if (out.days_over_10ms < kMinDays) {
    out.missing = absl::StrFormat(
        "%d host-days have a hold over 10 ms, and %d are needed",
        out.days_over_10ms, kMinDays);
    return out;
  }
  const Pareto fit = Fit(all.excesses_ns);
  out.shape = fit.shape;
  if (!(fit.shape <= kHeaviestShape) || !(fit.scale_ns > 0)) {
    out.missing = "unbounded tail, no return level";
    return out;
  }
  out.level_ns = LevelOf(fit, ShareOf(all));
  SeededRandom random(seed);
  std::vector<double> levels;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Tail drawn;
    for (size_t i = 0; i < hosts.size(); ++i) {
      AddHost(hosts[random.Below(hosts.size())], &drawn);
    }
    if (drawn.excesses_ns.size() < 2) continue;
    const double level = LevelOf(Fit(drawn.excesses_ns), ShareOf(drawn));
    if (std::isfinite(level)) levels.push_back(level);
  }
  std::sort(levels.begin(), levels.end());
  if (!levels.empty()) {
    out.interval_ns = {levels[levels.size() * 5 / 100],
                       levels[(levels.size() - 1) * 95 / 100]};
  }
  return out;
}

}  // namespace swaplock
