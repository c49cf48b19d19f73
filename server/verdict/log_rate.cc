#include "server/verdict/log_rate.h"

#include <algorithm>
#include <cmath>

namespace swaplock {
namespace {

// How many of `n` are kept with probability `p`.
double Kept(SeededRandom* random, double n, double p) {
  if (n > 500) {
    // Nearly normal: the sum of 12 uniform numbers, the same on any machine.
    double z = -6;
    for (int i = 0; i < 12; ++i) z += random->Uniform();
    return std::clamp(std::round(n * p + z * std::sqrt(n * p * (1 - p))), 0.0,
                      n);
  }
  double kept = 0;
  for (double i = 0; i < n; ++i) kept += random->Uniform() < p;
  return kept;
}

}  // namespace

void Thin(SeededRandom* random, double share, EventsPer* window) {
  const double pieces = std::ceil(window->events / window->piece);
  if (pieces > 0) window->events *= Kept(random, pieces, share) / pieces;
  window->exposure *= share;
}

double ChangeOfLogRate(const EventsPer& before, const EventsPer& after) {
  // a_j / E_j is the same in both windows.
  const double half = 1 / (before.exposure + after.exposure);
  return std::log(after.events / after.exposure + half) -
         std::log(before.events / before.exposure + half);
}

double LogRate(const EventsPer& window, double mean_exposure) {
  return std::log(window.events / window.exposure + 0.5 / mean_exposure);
}

}  // namespace swaplock
