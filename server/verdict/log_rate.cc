#include "server/verdict/log_rate.h"

#include <cmath>

namespace swaplock {

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
