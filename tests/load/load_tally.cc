#include "tests/load/load_tally.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace swaplock {

Spread Spread::Of(std::vector<double> times_ms) {
  Spread spread;
  spread.count = times_ms.size();
  if (times_ms.empty()) return spread;
  std::sort(times_ms.begin(), times_ms.end());
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(spread.count));
    return times_ms[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  spread.median_ms = at(0.5);
  spread.p99_ms = at(0.99);
  spread.max_ms = times_ms.back();
  return spread;
}

std::string Spread::ToString() const {
  if (count == 0) return "not measured";
  return absl::StrFormat("%.1f, %.1f, %.1f ms", median_ms, p99_ms, max_ms);
}

void LoadTally::StreamBegun() {
  absl::MutexLock lock(&mutex_);
  ++numbers_.streams;
}

void LoadTally::StreamEnded(const std::string& how, bool hint) {
  absl::MutexLock lock(&mutex_);
  ++numbers_.ended[how];
  if (hint) ++numbers_.hints;
}

void LoadTally::Acknowledged(size_t window, size_t bytes,
                             absl::Duration latency) {
  absl::MutexLock lock(&mutex_);
  ++numbers_.acknowledged[window];
  ++numbers_.windows;
  numbers_.bytes += bytes;
  latency_ms_.push_back(absl::ToDoubleMilliseconds(latency));
}

void LoadTally::Duplicate() {
  absl::MutexLock lock(&mutex_);
  ++numbers_.duplicates;
}

void LoadTally::Postponed() {
  absl::MutexLock lock(&mutex_);
  ++numbers_.postponed;
}

void LoadTally::Rejected(const std::string& reason) {
  absl::MutexLock lock(&mutex_);
  ++numbers_.rejected[reason];
}

LoadTally::Numbers LoadTally::numbers() const {
  absl::MutexLock lock(&mutex_);
  return numbers_;
}

Spread LoadTally::TakeLatency() {
  std::vector<double> taken;
  {
    absl::MutexLock lock(&mutex_);
    taken.swap(latency_ms_);
  }
  return Spread::Of(std::move(taken));
}

}  // namespace swaplock
