// The order of kernel releases as `uname -r` prints them, so that a build can
// be compared with the one before it.
//
// First the numbers of the version (6.18 is 6.18.0), then a release candidate
// before the release itself ("6.18-rc3", "6.18.0-0.rc3.fc44"), then the rest,
// in which runs of digits compare as numbers: 6.12.48+deb13-amd64 comes before
// 6.12.57+deb13-amd64, and 6.1.0-9-amd64 before 6.1.0-10-amd64. Different
// strings are never equal, so the order is total.
#ifndef SWAPLOCK_COMMON_KERNEL_RELEASE_H_
#define SWAPLOCK_COMMON_KERNEL_RELEASE_H_

#include "absl/strings/string_view.h"

namespace swaplock {

// Negative, 0 or positive, as `a` comes before `b`, is `b`, or comes after it.
// Any string is taken; one without a leading number comes before all others.
int CompareKernelReleases(absl::string_view a, absl::string_view b);

// For ordered containers and std::sort.
struct KernelReleaseOlder {
  using is_transparent = void;
  bool operator()(absl::string_view a, absl::string_view b) const {
    return CompareKernelReleases(a, b) < 0;
  }
};

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_KERNEL_RELEASE_H_
