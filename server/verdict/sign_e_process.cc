#include "server/verdict/sign_e_process.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/verdict/distributions.h"

namespace swaplock {
namespace {

const double kLog2 = std::log(2.0);

}  // namespace

double LogSignE(uint64_t up, uint64_t down) {
  const double a = 1 + static_cast<double>(up);
  const double b = 1 + static_cast<double>(down);
  // 1 - I_1/2(a, b) = I_1/2(b, a), which keeps its digits when it is small.
  return (a + b - 1) * kLog2 + LogBeta(a, b) + LogIncompleteBeta(b, a, 0.5);
}

double LogTwoSidedSignE(uint64_t up, uint64_t down) {
  const auto a = static_cast<double>(up);
  const auto b = static_cast<double>(down);
  return (a + b) * kLog2 + LogBeta(0.5 + a, 0.5 + b) - LogBeta(0.5, 0.5);
}

void SignEProcess::Add(double difference) {
  if (!(difference < 0) && !(difference > 0)) return;
  ++(difference > 0 ? up_ : down_);
  log_e_ = LogSignE(up_, down_);
  largest_log_e_ = std::max(largest_log_e_, log_e_);
}

double SignEProcess::p_value() const {
  return std::max(std::exp(-largest_log_e_),
                  std::numeric_limits<double>::min());
}

}  // namespace swaplock
