// What this host is, as far as it bears on its locks: kernel, CPUs, memory,
// preemption model, swap set-up; and the agent's own cost. Read from /proc,
// /sys and uname(2); what cannot be read stays empty (or -1), never guessed.
//
// Thread-safe: no state.
#ifndef SWAPLOCK_AGENT_HOST_ENVIRONMENT_H_
#define SWAPLOCK_AGENT_HOST_ENVIRONMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/window.h"

namespace swaplock {

// `root` stands before every path: "" or a directory of a test.
Environment ReadEnvironment(absl::string_view root = "");

// "none", "voluntary", "full", "lazy" or "": from the contents of
// debugfs/sched/preempt ("none voluntary (full)"), or else from what uname -v
// says ("PREEMPT_DYNAMIC" tells nothing, "PREEMPT" and "PREEMPT_RT" do), or
// from the kernel command line's preempt=.
std::string PreemptMode(absl::string_view debugfs, absl::string_view version,
                        absl::string_view command_line);

// The build id in the ELF notes of /sys/kernel/notes, in hex; "" if none.
std::string BuildId(absl::string_view notes);

struct ZramDevice {
  std::string name;                     // "zram0"
  std::vector<std::string> algorithms;  // by priority; "" where unused
  uint64_t disksize_bytes = 0;          // 0: not set up
  bool operator==(const ZramDevice& other) const {
    return name == other.name && algorithms == other.algorithms &&
           disksize_bytes == other.disksize_bytes;
  }
};
std::vector<ZramDevice> ReadZramDevices(absl::string_view root = "");

// The compressor that new zswap pages are stored with, or "".
std::string ZswapAlgorithm(absl::string_view root = "");

// Whether zswap takes new pages; and whether there are pages in it, which stay
// when it is switched off. Where the kernel does not say (before 5.19, without
// debugfs) it is taken to have some.
bool ZswapEnabled(absl::string_view root = "");
bool ZswapHoldsPages(absl::string_view root = "");

struct OwnUsage {
  uint64_t cpu_ns = 0;  // user and system, since the process began
  uint64_t rss_bytes = 0;
};
OwnUsage ReadOwnUsage();

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_ENVIRONMENT_H_
