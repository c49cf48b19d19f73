// Control of the false discovery rate over a family of hypotheses.
#ifndef SWAPLOCK_SERVER_VERDICT_FALSE_DISCOVERY_H_
#define SWAPLOCK_SERVER_VERDICT_FALSE_DISCOVERY_H_

#include <cstddef>
#include <vector>

namespace swaplock {

// p-values adjusted by Benjamini-Hochberg, in the order given: reject where the
// result is at most alpha. `family` is the number of hypotheses planned; those
// without a p-value count as not rejected. 0 means as many as there are.
std::vector<double> BenjaminiHochberg(const std::vector<double>& p_values,
                                      size_t family = 0);

// The same, valid under any dependence: larger by sum 1/k.
std::vector<double> BenjaminiYekutieli(const std::vector<double>& p_values,
                                       size_t family = 0);

// e-BH (Wang and Ramdas): which hypotheses are rejected at `alpha`, in the
// order given, by the natural logarithms of their e-values. Valid under any
// dependence. `family` as above.
std::vector<bool> EBenjaminiHochberg(const std::vector<double>& log_e,
                                     double alpha, size_t family = 0);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_FALSE_DISCOVERY_H_
