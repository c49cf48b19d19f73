// The version of this build, as the hello, the metrics and --version say it.
#ifndef SWAPLOCK_COMMON_VERSION_H_
#define SWAPLOCK_COMMON_VERSION_H_

#include "absl/strings/string_view.h"

namespace swaplock {

inline constexpr absl::string_view kVersion = "0.1.0";

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_VERSION_H_
