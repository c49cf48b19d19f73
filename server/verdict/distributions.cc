#include "server/verdict/distributions.h"

#include <cmath>
#include <limits>

namespace swaplock {
namespace {

// Lentz's continued fraction of the incomplete beta function. Converges fast
// for x < (a + 1) / (a + b + 2).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) {
    return std::abs(v) < kTiny ? kTiny : v;
  };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m <= 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return h;
}

template <typename Function>
double Bisect(double low, double high, const Function& is_below) {
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

double NormalUpperTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double NormalQuantile(double p) {
  return Bisect(-40, 40, [&](double z) { return NormalUpperTail(-z) < p; });
}

double LogBeta(double a, double b) {
  return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
}

double LogIncompleteBeta(double a, double b, double x) {
  if (x <= 0) return -std::numeric_limits<double>::infinity();
  if (x >= 1) return 0;
  if (x > (a + 1) / (a + b + 2)) {
    return std::log1p(-std::exp(LogIncompleteBeta(b, a, 1 - x)));
  }
  return a * std::log(x) + b * std::log1p(-x) - LogBeta(a, b) - std::log(a) +
         std::log(BetaFraction(a, b, x));
}

double IncompleteBeta(double a, double b, double x) {
  return std::exp(LogIncompleteBeta(a, b, x));
}

double StudentQuantile(double p, double degrees) {
  const double tail = p < 0.5 ? p : 1 - p;
  const double t = Bisect(0, 1e6, [&](double candidate) {
    const double x = degrees / (degrees + candidate * candidate);
    return IncompleteBeta(degrees / 2, 0.5, x) / 2 > tail;
  });
  return p < 0.5 ? -t : t;
}

Interval BinomialInterval(uint64_t successes, uint64_t trials,
                          double confidence) {
  Interval out = {0, 1};
  if (trials == 0) return out;
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(trials);
  const double tail = (1 - confidence) / 2;
  if (successes > 0) {
    out.lower = Bisect(
        0, 1, [&](double p) { return IncompleteBeta(k, n - k + 1, p) < tail; });
  }
  if (successes < trials) {
    out.upper = Bisect(0, 1, [&](double p) {
      return IncompleteBeta(k + 1, n - k, p) < 1 - tail;
    });
  }
  return out;
}

}  // namespace swaplock
