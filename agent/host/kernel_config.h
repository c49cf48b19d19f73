// How the running kernel was configured, as far as it bears on its locks.
//
// Thread-safe: no state.
#ifndef SWAPLOCK_AGENT_HOST_KERNEL_CONFIG_H_
#define SWAPLOCK_AGENT_HOST_KERNEL_CONFIG_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

// Options and their values: "y", "m", a number or string, "n" for one that is
// not set; of a fixed list, those that this kernel has. From /proc/config.gz,
// or else /boot/config-$(uname -r) or /lib/modules/$(uname -r)/config; empty
// when none can be read. `root` stands before every path.
std::map<std::string, std::string> ReadKernelConfig(
    absl::string_view root = "");

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_KERNEL_CONFIG_H_
