// Distribution functions that the verdicts need.
#ifndef SWAPLOCK_SERVER_VERDICT_DISTRIBUTIONS_H_
#define SWAPLOCK_SERVER_VERDICT_DISTRIBUTIONS_H_

#include <cstdint>

namespace swaplock {

double NormalUpperTail(double z);
// The z below which a share `p` (0 < p < 1) lies.
double NormalQuantile(double p);

// ln B(a, b), for a, b > 0.
double LogBeta(double a, double b);
// The regularised incomplete beta function I_x(a, b); 0 <= x <= 1. The second
// gives its logarithm, also where it is too small for a double.
double IncompleteBeta(double a, double b, double x);
double LogIncompleteBeta(double a, double b, double x);

// The t below which a share `p` (0 < p < 1) of Student's distribution lies.
double StudentQuantile(double p, double degrees);

struct Interval {
  double lower = 0;
  double upper = 0;
};

// Clopper-Pearson interval of a probability of which `successes` of `trials`
// were seen; 0..1 when nothing was tried.
Interval BinomialInterval(uint64_t successes, uint64_t trials,
                          double confidence);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_DISTRIBUTIONS_H_
