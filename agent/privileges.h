// Gives up the capabilities that the agent does not need once its probes are
// attached.
//
// Call while the process has one thread: capabilities belong to threads, and
// later ones inherit them.
#ifndef SWAPLOCK_AGENT_PRIVILEGES_H_
#define SWAPLOCK_AGENT_PRIVILEGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

// What stays, of what the process has:
//   cap_bpf, cap_perfmon   reading maps, probes of a module that comes back
//   cap_syslog             function addresses (kernel.kptr_restrict)
//   cap_dac_read_search    a holder's cgroup by its id (open_by_handle_at)
//   cap_sys_admin          only where zram or zsmalloc is a module, or not
//   there
//                          yet: the kernel wants it for hooks on modules
//   cap_dac_override       only if one of `written`, files or folders that may
//   not
//                          exist yet, lies in a folder of another user
// `root` stands before /sys.
std::vector<std::string> NeededCapabilities(
    const std::vector<std::string>& written, absl::string_view root = "");

// Drops all others from every set of the calling thread, and from what programs
// that it would start could get. Returns those that are left as cap_to_text(3)
// writes them, "" if none. Names that the system does not know, or that the
// process does not have, are passed over. Internal when the kernel refuses.
absl::StatusOr<std::string> KeepOnly(const std::vector<std::string>& names);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_PRIVILEGES_H_
