// What the running kernel calls things: the functions, tracepoints and struct
// members that the lock catalogue asks about, from the kernel's own BTF and
// that of its modules. Plain values, so that lists recorded on other kernels
// (agent/capture/testdata/*.symbols) stand in for a running one in tests.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_KERNEL_SYMBOLS_H_
#define SWAPLOCK_AGENT_CAPTURE_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

// A function that BTF knows, so that a trampoline may be attached to it.
struct KernelFunction {
  std::string module;   // "" for vmlinux
  uint32_t btf_id = 0;  // 0 in recorded lists
  int parameters = 0;   // number of parameters
  bool operator==(const KernelFunction& other) const {
    return module == other.module && parameters == other.parameters;
  }
};

struct KernelMember {
  uint32_t offset_bytes = 0;
  // Of the member: "struct mutex", "struct mutex *", "local_lock_t",
  // "struct zcomp *[4]".
  std::string type;
  bool operator==(const KernelMember& other) const {
    return offset_bytes == other.offset_bytes && type == other.type;
  }
};

struct KernelSymbols {
  std::string release;  // uname -r
  bool has_btf = false;
  std::map<std::string, KernelFunction> functions;
  // "zcomp_strm.lock"; only members that exist.
  std::map<std::string, KernelMember> members;
  std::set<std::string> tracepoints;  // without their group
  std::set<std::string> modules;      // of interest and with BTF loaded

  bool HasFunction(absl::string_view name) const {
    return functions.count(std::string(name)) > 0;
  }
  // The member, or nullptr.
  const KernelMember* Member(absl::string_view name) const;
};

// Reads the running kernel. A kernel without BTF is a value (has_btf false),
// not an error.
KernelSymbols ReadKernelSymbols();

// Where functions of the kernel proper lie, [begin, end), from
// /proc/kallsyms (sorted by address by the kernel). Names that are not there,
// or whose address the kernel hides (0), are left out.
std::vector<std::pair<uint64_t, uint64_t>> FunctionRanges(
    std::istream& kallsyms, const std::set<std::string>& names);

// The text form of recorded lists: one symbol per line, sorted, '#' comments.
std::string FormatKernelSymbols(const KernelSymbols& symbols);
absl::StatusOr<KernelSymbols> ParseKernelSymbols(absl::string_view text);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_KERNEL_SYMBOLS_H_
