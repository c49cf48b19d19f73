// Random numbers that are the same on every machine: verdicts are recomputed
// and have to come out alike. std:: distributions leave their output open.
#ifndef SWAPLOCK_SERVER_VERDICT_SEEDED_RANDOM_H_
#define SWAPLOCK_SERVER_VERDICT_SEEDED_RANDOM_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace swaplock {

// splitmix64.
class SeededRandom {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Below `bound` (1 .. 2^32); the bias is below bound / 2^32.
  size_t Below(size_t bound) {
    return static_cast<size_t>(((Next() >> 32) * bound) >> 32);
  }

  // In (0, 1).
  double Uniform() {
    return (static_cast<double>(Next() >> 11) + 0.5) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

// FNV-1a of `text`, continued from `hash`; the end of the text counts too.
inline constexpr uint64_t kHashStart = 0xcbf29ce484222325;
inline uint64_t HashOf(absl::string_view text, uint64_t hash = kHashStart) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return (hash ^ 0xff) * 0x100000001b3;
}

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SEEDED_RANDOM_H_
