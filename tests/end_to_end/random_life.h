// Windows as an agent would have measured them in one life, with random numbers
// that follow from a seed. Test code only.
#ifndef SWAPLOCK_TESTS_END_TO_END_RANDOM_LIFE_H_
#define SWAPLOCK_TESTS_END_TO_END_RANDOM_LIFE_H_

#include <cstdint>
#include <random>
#include <string>

namespace swaplock {

using Random = std::mt19937_64;

// SWAPLOCK_SEED, or a new one; printed, so that a failure can be repeated.
uint64_t ChooseSeed();

// Uniform in [0, below).
uint64_t Draw(Random* random, uint64_t below);

// Writes a record file of windows 1 to `windows` of this host and epoch.
void WriteLife(const std::string& path, const std::string& host, uint64_t epoch,
               uint64_t windows, Random* random);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_END_TO_END_RANDOM_LIFE_H_
