// What a workload stores and where it reads: numbers and pages that depend on a
// seed alone, the same on every machine.
//
// Not thread-safe.
#ifndef SWAPLOCK_CLI_WORKLOAD_WORKLOAD_CONTENT_H_
#define SWAPLOCK_CLI_WORKLOAD_WORKLOAD_CONTENT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace swaplock {

// Pseudo-random numbers (splitmix64), of one stream of a seed.
class SeededNumbers {
 public:
  SeededNumbers(uint64_t seed, uint64_t stream);

  uint64_t Next();
  // 0 to `limit` - 1; `limit` is at least 1.
  uint64_t Below(uint64_t limit) { return Next() % limit; }

 private:
  uint64_t state_;
};

// Fills `pages` with pages that no other `stream` has: in every 64 bytes a
// share of 1 / `ratio` is random and the rest zero, so that a codec stores
// a page in little more than that share, finds matches all over it, and zram
// and zswap do not take it for a page of one value. `ratio` is at least 1.
void FillPages(uint64_t seed, uint64_t stream, double ratio,
               absl::Span<uint8_t> pages);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_WORKLOAD_WORKLOAD_CONTENT_H_
