// A base-2 exponential histogram of scale 3 over nanoseconds: each power of two
// is eight buckets, 9.05 % wide. Bucket i counts values v with
// 2^(i/8) < v <= 2^((i+1)/8), so the same integers are an OTLP
// ExponentialHistogram and a Prometheus native histogram of schema 3.
//
// Values up to 2^8 ns lie in the underflow bucket, above 2^37 ns (137 s) in the
// overflow bucket. agent/bpf/hold_math.h computes the same index in BPF C; a
// test holds the two against each other at every boundary.
//
// Not thread-safe.
#ifndef SWAPLOCK_COMMON_HISTOGRAM_H_
#define SWAPLOCK_COMMON_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace swaplock {

class Histogram {
 public:
  static constexpr int kUnderflowIndex = 63;  // (0, 2^8]
  static constexpr int kOverflowIndex = 296;  // (2^37, infinity)
  static constexpr int kBuckets = kOverflowIndex - kUnderflowIndex + 1;

  // The bucket that counts `ns`; from kUnderflowIndex to kOverflowIndex.
  static int IndexOf(uint64_t ns);

  // Upper bound of a bucket in nanoseconds, inclusive; infinity for overflow.
  static double UpperBoundNs(int index);
  // Lower bound, exclusive; 0 for underflow.
  static double LowerBoundNs(int index);

  void Add(uint64_t ns) { AddToBucket(IndexOf(ns), 1); }

  // Adds `count` to bucket `index`, which must be in range.
  void AddToBucket(int index, uint64_t count) {
    buckets_[static_cast<size_t>(index - kUnderflowIndex)] += count;
  }

  uint64_t bucket(int index) const {
    return buckets_[static_cast<size_t>(index - kUnderflowIndex)];
  }

  void Merge(const Histogram& other);

  // Sum over all buckets.
  uint64_t Count() const;

  // The value below or at which a share `q` (0..1) of the values lies, by
  // geometric interpolation inside its bucket; 0 when the histogram is empty.
  // Never above `max_ns`, the exact maximum that is kept beside it.
  double QuantileNs(double q, uint64_t max_ns) const;

  bool operator==(const Histogram& other) const {
    return buckets_ == other.buckets_;
  }

 private:
  std::array<uint64_t, kBuckets> buckets_ = {};
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_HISTOGRAM_H_
