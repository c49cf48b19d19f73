#include "common/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace swaplock {
namespace {

// floor(2^(63 + k/8)) for k = 1..7. A value shifted left until its top bit is
// bit 63 lies above 2^(k/8) exactly when it is greater than entry k: these
// boundaries are irrational, so no integer lies on one.
constexpr uint64_t kMantissaBound[7] = {
    0x8b95c1e3ea8bd6e6, 0x9837f0518db8a96f, 0xa5fed6a9b15138ea,
    0xb504f333f9de6484, 0xc5672a115506dadd, 0xd744fccad69d6af4,
    0xeac0c6e7dd24392e,
};

}  // namespace

int Histogram::IndexOf(uint64_t ns) {
  if (ns <= (uint64_t{1} << 8)) return kUnderflowIndex;
  if (ns > (uint64_t{1} << 37)) return kOverflowIndex;
  const int exponent = 63 - __builtin_clzll(ns);
  const uint64_t mantissa = ns << (63 - exponent);
  // A power of two is the inclusive upper bound of the bucket below it.
  if (mantissa == uint64_t{1} << 63) return exponent * 8 - 1;
  int step = 0;
  while (step < 7 && mantissa > kMantissaBound[step]) ++step;
  return exponent * 8 + step;
}

double Histogram::UpperBoundNs(int index) {
  if (index >= kOverflowIndex) return std::numeric_limits<double>::infinity();
  return std::exp2((index + 1) / 8.0);
}

double Histogram::LowerBoundNs(int index) {
  if (index <= kUnderflowIndex) return 0;
  return std::exp2(index / 8.0);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i] += other.buckets_[i];
  }
}

uint64_t Histogram::Count() const {
  uint64_t count = 0;
  for (const uint64_t bucket : buckets_) count += bucket;
  return count;
}

double Histogram::QuantileNs(double q, uint64_t max_ns) const {
  const uint64_t count = Count();
  if (count == 0) return 0;
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count);
  double below = 0;
  const double max = static_cast<double>(max_ns);
  for (int i = kUnderflowIndex; i <= kOverflowIndex; ++i) {
    const double here = static_cast<double>(bucket(i));
    if (here == 0) continue;
    if (below + here >= rank) {
      const double lower = LowerBoundNs(i);
      const double upper = std::min(UpperBoundNs(i), max);
      const double share = std::max(0.0, (rank - below) / here);
      // Bucket 0 has no geometric middle; there and above 2^37 go linearly.
      const double value = lower > 0 && upper > lower && i != kOverflowIndex
                               ? lower * std::pow(upper / lower, share)
                               : lower + (upper - lower) * share;
      return std::min(value, max);
    }
    below += here;
  }
  return max;
}

}  // namespace swaplock
