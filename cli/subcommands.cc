#include "cli/subcommands.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/command_line.h"

namespace swaplock {

const std::vector<Subcommand>& Subcommands() {
  static const auto* all = new std::vector<Subcommand>{
      {"top",
       "[flags]",
       "the fleet's locks, live",
       {"server", "output", "kernel", "interval", "seconds", "once", "explain"},
       {"table", "json"},
       Top},
      {"verdicts",
       "[flags]",
       "kernels against each other, as a server sees it",
       {"server", "output"},
       {"table", "json"},
       Verdicts},
      {"doctor",
       "[flags]",
       "what can be measured on this host",
       {"output"},
       {"table", "json"},
       Doctor},
      {"workload",
       "zswap-inversion|zram-inversion [flags]",
       "make priority inversions on a swap-compression lock, and time reads",
       {"workers", "hogs", "readers", "duration", "pause", "seed", "ratio",
        "mib", "codec", "slow_holder", "low", "block_kib", "low_block_kib",
        "device", "setup", "swap_device", "output"},
       {"table", "json"},
       Workload},
  };
  return *all;
}

int UsageError(absl::string_view subcommand, absl::string_view message) {
  std::fprintf(stderr, "swaplock %s: %s; see swaplock %s --help\n",
               std::string(subcommand).c_str(), std::string(message).c_str(),
               std::string(subcommand).c_str());
  return kExitUsage;
}

}  // namespace swaplock
