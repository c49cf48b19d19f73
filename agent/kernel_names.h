// Names for what the kernel reports as numbers: return addresses of a stack by
// /proc/kallsyms, cgroup ids by the cgroup file system. Both remember what they
// found: a pass over kallsyms is some 50 ms, and stacks repeat.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_KERNEL_NAMES_H_
#define SWAPLOCK_AGENT_KERNEL_NAMES_H_

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

class KernelNames {
 public:
  // Learns the names of all `addresses` that are not known yet, in one pass.
  void LearnStacks(const std::vector<std::vector<uint64_t>>& stacks);

  // Function names, innermost first, without the frames of BPF itself; an
  // address without a name reads as "0xffffffff81000000". Modules' functions
  // carry their module: "zram_submit_bio [zram]".
  std::vector<std::string> Stack(const std::vector<uint64_t>& addresses);

  // The path below the cgroup mount, "/" for the root, "" if unknown.
  std::string Cgroup(uint64_t id);

 private:
  std::map<uint64_t, std::string> functions_;
  std::map<uint64_t, std::string> cgroups_;
};

// Names of addresses from the text of /proc/kallsyms, in any order; addresses
// below every symbol, and all of them where the kernel hides addresses, are
// left out.
std::map<uint64_t, std::string> ResolveFunctions(
    std::istream& kallsyms, const std::vector<uint64_t>& addresses);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_KERNEL_NAMES_H_
