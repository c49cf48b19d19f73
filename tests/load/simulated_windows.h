// Windows as a busy zram host measures them, without a kernel: a few dozen that
// follow from a seed, given out again and again under the keys of as many hosts
// as are asked for. What any set of them adds up to is known.
//
// Thread-safe once made.
#ifndef SWAPLOCK_TESTS_LOAD_SIMULATED_WINDOWS_H_
#define SWAPLOCK_TESTS_LOAD_SIMULATED_WINDOWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/window.h"
#include "tests/end_to_end/totals.h"

namespace swaplock {

class SimulatedWindows {
 public:
  static constexpr size_t kDifferent = 64;
  // How often each was counted.
  using Counts = std::array<uint64_t, kDifferent>;

  // Window 1 of every host begins at `start`, each lasts 10 s.
  SimulatedWindows(uint64_t seed, absl::Time start);

  // Which of them window `seq` of host number `host` is.
  static size_t IndexOf(uint64_t host, uint64_t seq) {
    return (host * 7 + seq) % kDifferent;
  }
  static std::string HostId(uint64_t host);

  // Window `seq`, 1 or more, of the host.
  void Fill(uint64_t host, uint64_t seq, v1::Window* window) const;

  Totals Sum(const Counts& counts) const;

 private:
  const absl::Time start_;
  std::vector<Window> windows_;
  std::vector<v1::Window> messages_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SIMULATED_WINDOWS_H_
