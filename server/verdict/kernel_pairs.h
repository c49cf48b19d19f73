// Two kernels that are compared.
#ifndef SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_
#define SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_

#include <string>

namespace swaplock {

// Releases as `uname -r` prints them.
struct KernelPair {
  std::string base;
  std::string newer;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_KERNEL_PAIRS_H_
