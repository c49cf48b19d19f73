#include "server/verdict/quantile_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "common/histogram.h"

namespace swaplock {
namespace {

constexpr double kMinAbove = 100;
constexpr size_t kMinHosts = 10;
constexpr double kLargestShare = 0.2;
constexpr double kTail = 0.05;

Histogram HistogramOf(const HostBuckets& host) {
  Histogram histogram;
  for (const BucketCount& bucket : host) {
    histogram.AddToBucket(bucket.index, bucket.count);
  }
  return histogram;
}

// Without the exact maximum: the upper end of the last bucket in use.
double QuantileNs(const Histogram& histogram, double q) {
  uint64_t max_ns = 0;
  for (int i = Histogram::kUnderflowIndex; i < Histogram::kOverflowIndex; ++i) {
    if (histogram.bucket(i) > 0) {
      max_ns = static_cast<uint64_t>(Histogram::UpperBoundNs(i));
    }
  }
  if (histogram.bucket(Histogram::kOverflowIndex) > 0) {
    max_ns = uint64_t{1} << 38;
  }
  return histogram.QuantileNs(std::clamp(q, 0.0, 1.0), max_ns);
}

// About how many of the values are at most `ns`: whole buckets, and a part of
// the one that `ns` lies in.
double CountUpTo(const HostBuckets& host, double ns) {
  double count = 0;
  for (const BucketCount& bucket : host) {
    const double low = Histogram::LowerBoundNs(bucket.index);
    const double high = Histogram::UpperBoundNs(bucket.index);
    const auto all = static_cast<double>(bucket.count);
    if (high <= ns) {
      count += all;
    } else if (low < ns) {
      count += low > 0 && std::isfinite(high)
                   ? all * std::log(ns / low) / std::log(high / low)
                   : all / 2;
    }
  }
  return count;
}

double CountOf(const HostBuckets& host) {
  double count = 0;
  for (const BucketCount& bucket : host) {
    count += static_cast<double>(bucket.count);
  }
  return count;
}

}  // namespace

PooledQuantile QuantileOf(const std::vector<HostBuckets>& hosts, double q) {
  PooledQuantile out;
  Histogram pooled;
  double all = 0;
  double largest = 0;
  double with_values = 0;
  std::vector<double> own;
  for (const HostBuckets& host : hosts) {
    const double count = CountOf(host);
    if (count == 0) continue;
    const Histogram histogram = HistogramOf(host);
    pooled.Merge(histogram);
    all += count;
    largest = std::max(largest, count);
    ++with_values;
    own.push_back(QuantileNs(histogram, q));
  }
  if (all * (1 - q) < kMinAbove || with_values < kMinHosts) {
    out.missing = absl::StrFormat(
        "%.0f values from %.0f hosts; %.0f from %d are needed", all,
        with_values, std::round(kMinAbove / (1 - q)), kMinHosts);
    return out;
  }
  if (largest > kLargestShare * all) {
    out.missing = absl::StrFormat("one host has %.0f %% of the values",
                                  100 * largest / all);
    return out;
  }
  out.ns = QuantileNs(pooled, q);
  double squares = 0;
  for (const HostBuckets& host : hosts) {
    const double residual = CountUpTo(host, out.ns) - q * CountOf(host);
    squares += residual * residual;
  }
  const double se = std::sqrt(with_values / (with_values - 1) * squares) / all;
  const double t = StudentQuantile(1 - kTail, with_values - 1);
  const int bucket = Histogram::IndexOf(
      static_cast<uint64_t>(std::max(1.0, std::round(out.ns))));
  out.interval_ns = {
      std::min(QuantileNs(pooled, q - t * se), Histogram::LowerBoundNs(bucket)),
      std::max(QuantileNs(pooled, q + t * se),
               std::min(Histogram::UpperBoundNs(bucket), 1e12))};
  std::sort(own.begin(), own.end());
  out.median_of_hosts_ns =
      (own[(own.size() - 1) / 2] + own[own.size() / 2]) / 2;
  return out;
}

QuantileRatio RatioOf(const PooledQuantile& newer, const PooledQuantile& base) {
  QuantileRatio out;
  out.missing = newer.missing.empty() ? base.missing : newer.missing;
  if (out.missing.empty() &&
      !(base.interval_ns.lower > 0 && newer.interval_ns.lower > 0)) {
    out.missing = "a quantile lies below what the buckets resolve";
  }
  if (!out.missing.empty()) return out;
  const double a = std::log(newer.ns);
  const double b = std::log(base.ns);
  const double down = std::hypot(a - std::log(newer.interval_ns.lower),
                                 std::log(base.interval_ns.upper) - b);
  const double up = std::hypot(std::log(newer.interval_ns.upper) - a,
                               b - std::log(base.interval_ns.lower));
  out.ratio = std::exp(a - b);
  out.interval = {std::exp(a - b - down), std::exp(a - b + up)};
  return out;
}

}  // namespace swaplock
