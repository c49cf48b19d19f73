// Names for what the kernel reports as numbers: return addresses of a stack by
// asking the kernel or from /proc/kallsyms, cgroup ids by the cgroup file
// system. What was found is remembered.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_KERNEL_NAMES_H_
#define SWAPLOCK_AGENT_CAPTURE_KERNEL_NAMES_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

// Text ranges by their first address.
struct KernelFunctionRange {
  uint64_t end = 0;  // the next symbol; ~0 when there is none
  std::string name;
};
using KernelFunctions = std::map<uint64_t, KernelFunctionRange>;

class KernelNames {
 public:
  // Gives a function's name as printk's %ps does: "name" or "name [module]",
  // the address in hexadecimal if it lies in none, "" if this cannot be told.
  using Ask = std::function<std::string(uint64_t address)>;
  void SetAsk(Ask ask) { ask_ = std::move(ask); }

  // Learns the functions around all addresses that lie in none that is known.
  // Those that cannot be asked for (some microseconds each) take a pass over
  // /proc/kallsyms: a thousand million instructions.
  void LearnStacks(const std::vector<std::vector<uint64_t>>& stacks);

  // Function names, innermost first, without the frames of BPF itself; an
  // address without a name reads as "0xffffffff81000000". Modules' functions
  // carry their module: "zram_submit_bio [zram]".
  std::vector<std::string> Stack(const std::vector<uint64_t>& addresses);

  // Functions may have moved: modules or BPF programs came or went.
  void ForgetFunctions();

  // The path below the cgroup mount, "/" for the root, "" if unknown.
  std::string Cgroup(uint64_t id);

 private:
  // The function around `address`, or nullptr.
  const std::string* Function(uint64_t address) const;
  // Whether the kernel, asked, told what is at `address`.
  bool AskFor(uint64_t address);

  Ask ask_;
  KernelFunctions functions_;
  std::set<uint64_t> nameless_;  // addresses that no pass found a function for
  std::map<uint64_t, std::string> cgroups_;
};

// The functions around `addresses` from the text of /proc/kallsyms, in any
// order; addresses below every symbol, and all of them where the kernel hides
// addresses, have none.
KernelFunctions ResolveFunctions(std::istream& kallsyms,
                                 const std::vector<uint64_t>& addresses);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_KERNEL_NAMES_H_
