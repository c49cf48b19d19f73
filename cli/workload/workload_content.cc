#include "cli/workload/workload_content.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace swaplock {
namespace {

constexpr size_t kChunkBytes = 64;

uint64_t Mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

SeededNumbers::SeededNumbers(uint64_t seed, uint64_t stream)
    : state_(Mixed(seed) ^ Mixed(~stream)) {}

uint64_t SeededNumbers::Next() {
  state_ += 0x9e3779b97f4a7c15u;
  return Mixed(state_);
}

void FillPages(uint64_t seed, uint64_t stream, double ratio,
               absl::Span<uint8_t> pages) {
  SeededNumbers numbers(seed, stream);
  const double share = static_cast<double>(kChunkBytes) / ratio;
  double due = 0;  // random bytes, with what rounding has left over
  for (size_t at = 0; at < pages.size(); at += kChunkBytes) {
    const size_t chunk = std::min(kChunkBytes, pages.size() - at);
    due += share;
    const size_t random = std::min(chunk, static_cast<size_t>(due));
    due -= static_cast<double>(random);
    for (size_t i = 0; i < random; i += sizeof(uint64_t)) {
      const uint64_t word = numbers.Next();
      std::memcpy(&pages[at + i], &word, std::min(sizeof(word), random - i));
    }
    if (random < chunk) std::memset(&pages[at + random], 0, chunk - random);
  }
}

}  // namespace swaplock
