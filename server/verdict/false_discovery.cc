#include "server/verdict/false_discovery.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace swaplock {
namespace {

double FamilySize(size_t given, size_t family) {
  return static_cast<double>(std::max(given, family));
}

std::vector<double> StepUp(const std::vector<double>& p_values, double all,
                           double penalty) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return p_values[i] > p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<double>(order.size() - i);
    least = std::min(least, p_values[order[i]] * penalty * all / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace

std::vector<double> BenjaminiHochberg(const std::vector<double>& p_values,
                                      size_t family) {
  return StepUp(p_values, FamilySize(p_values.size(), family), 1);
}

std::vector<double> BenjaminiYekutieli(const std::vector<double>& p_values,
                                       size_t family) {
  const double all = FamilySize(p_values.size(), family);
  double penalty = 0;
  for (double k = 1; k <= all; ++k) penalty += 1 / k;
  return StepUp(p_values, all, penalty);
}

std::vector<bool> EBenjaminiHochberg(const std::vector<double>& log_e,
                                     double alpha, size_t family) {
  std::vector<size_t> order(log_e.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return log_e[i] > log_e[j]; });
  const double all = FamilySize(log_e.size(), family);
  size_t rejected = 0;
  for (size_t k = 1; k <= order.size(); ++k) {
    const double bar = std::log(all / (static_cast<double>(k) * alpha));
    if (log_e[order[k - 1]] >= bar) rejected = k;
  }
  std::vector<bool> out(log_e.size(), false);
  for (size_t k = 0; k < rejected; ++k) out[order[k]] = true;
  return out;
}

}  // namespace swaplock
