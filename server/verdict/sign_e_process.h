// Evidence that may be looked at after every pair: the sign e-process.
//
// Each pair's difference is positive or negative. Under the hypothesis that
// the upgraded host is not worse by more than the margin, and that the two of a
// pair could be exchanged, a positive sign is at most a fair coin. Then
//   e = 2 * 2^n * B(1 + up, 1 + down) * (1 - I_1/2(1 + up, 1 + down))
// is a supermartingale that starts at 1, so that it ever reaches 1/alpha has a
// probability of at most alpha (Ville), however often one looks.
#ifndef SWAPLOCK_SERVER_VERDICT_SIGN_E_PROCESS_H_
#define SWAPLOCK_SERVER_VERDICT_SIGN_E_PROCESS_H_

#include <cstdint>

namespace swaplock {

// ln e after `up` positive and `down` negative signs.
double LogSignE(uint64_t up, uint64_t down);

// ln of the two-sided form, 2^n B(1/2 + up, 1/2 + down) / B(1/2, 1/2).
double LogTwoSidedSignE(uint64_t up, uint64_t down);

class SignEProcess {
 public:
  // The next pair's difference, in the order that was fixed beforehand. 0 and
  // what is not a number count for nothing.
  void Add(double difference);

  uint64_t up() const { return up_; }
  uint64_t down() const { return down_; }
  double log_e() const { return log_e_; }
  // 1 / the largest e so far; at most 1, never 0.
  double p_value() const;

 private:
  uint64_t up_ = 0;
  uint64_t down_ = 0;
  double log_e_ = 0;
  double largest_log_e_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SIGN_E_PROCESS_H_
