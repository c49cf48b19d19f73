// What simulated hosts went through, all of them together.
//
// Thread-safe.
#ifndef SWAPLOCK_TESTS_LOAD_LOAD_TALLY_H_
#define SWAPLOCK_TESTS_LOAD_LOAD_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/load/simulated_windows.h"

namespace swaplock {

// Order statistics of times, in milliseconds.
struct Spread {
  size_t count = 0;  // 0: nothing was measured, and the rest means nothing
  double median_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;

  static Spread Of(std::vector<double> times_ms);
  std::string ToString() const;
};

class LoadTally {
 public:
  struct Numbers {
    SimulatedWindows::Counts acknowledged = {};  // without duplicates
    uint64_t windows = 0;                        // their sum
    uint64_t duplicates = 0;
    uint64_t bytes = 0;      // of windows acknowledged, before compression
    uint64_t streams = 0;    // attempts to connect
    uint64_t postponed = 0;  // times that the server said "later"
    std::map<std::string, uint64_t> rejected;  // for good, by first word
    std::map<std::string, uint64_t> ended;     // streams, by how
    uint64_t hints = 0;  // of those, with the time to come again
  };

  void StreamBegun();
  void StreamEnded(const std::string& how, bool hint);
  void Acknowledged(size_t window, size_t bytes, absl::Duration latency);
  void Duplicate();
  void Postponed();
  void Rejected(const std::string& reason);

  Numbers numbers() const;
  // Of windows acknowledged since the last call.
  Spread TakeLatency();

 private:
  mutable absl::Mutex mutex_;
  Numbers numbers_ ABSL_GUARDED_BY(mutex_);
  std::vector<double> latency_ms_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LOAD_TALLY_H_
