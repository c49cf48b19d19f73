// A hash of the rows that a verdict was made of, the same on every machine: by
// it one knows whether a verdict that is made again rests on the same rows.
#ifndef SWAPLOCK_SERVER_VERDICT_ROW_HASH_H_
#define SWAPLOCK_SERVER_VERDICT_ROW_HASH_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "server/verdict/seeded_random.h"

namespace swaplock {

// splitmix64's step for numbers, FNV-1a for texts.
class RowHash {
 public:
  explicit RowHash(uint64_t hash = kHashStart) : hash_(hash) {}

  void Add(const std::string& text) { hash_ = HashOf(text, hash_); }
  void Add(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    Add(bits);
  }
  void Add(uint64_t value) { hash_ = SeededRandom(hash_ ^ value).Next(); }
  void Add(int64_t value) { Add(static_cast<uint64_t>(value)); }
  void Add(int value) { Add(static_cast<uint64_t>(value)); }
  void Add(bool value) { Add(uint64_t{value}); }

  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_ROW_HASH_H_
