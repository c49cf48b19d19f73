#include "server/verdict/sample_size.h"

#include <cmath>
#include <limits>

namespace swaplock {
namespace {

constexpr double kErrors = 1.6449 + 0.8416;  // z of 5 % and of 20 %
// What a rank test of heavy-tailed values needs beyond the formula for normal
// ones, found by simulation.
constexpr double kHeavyTails = 1.25;

}  // namespace

double DetectableRatio(double spread, uint64_t treated, uint64_t controls,
                       double margin) {
  if (treated == 0 || controls == 0 || !(spread > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double hosts =
      1 / static_cast<double>(treated) + 1 / static_cast<double>(controls);
  return margin * std::exp(kErrors * spread * std::sqrt(kHeavyTails * hosts));
}

uint64_t HostsPerArmFor(double ratio, double spread, double margin) {
  if (!(spread > 0)) return 0;
  const double steps = kErrors * spread / (std::log(ratio) - std::log(margin));
  return static_cast<uint64_t>(std::ceil(kHeavyTails * 2 * steps * steps));
}

}  // namespace swaplock
