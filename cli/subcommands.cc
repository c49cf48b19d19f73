#include "cli/subcommands.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/command_line.h"

namespace swaplock {

namespace {

// Those of cli/server_flags, and `others`.
std::vector<absl::string_view> WithServer(
    std::vector<absl::string_view> others) {
  others.insert(others.end(), {"server", "tls_ca", "tls_cert", "tls_key",
                               "tls_server_name", "token_file"});
  return others;
}

}  // namespace

const std::vector<Subcommand>& Subcommands() {
  static const auto* all = new std::vector<Subcommand>{
      {"top",
       "[flags]",
       "the fleet's locks, live",
       WithServer(
           {"output", "kernel", "interval", "seconds", "once", "explain"}),
       {"table", "json"},
       Top},
      {"verdicts",
       "[flags]",
       "kernels against each other, as a server sees it",
       WithServer({"output"}),
       {"table", "json"},
       Verdicts},
      {"deep-dive",
       "HOST [flags]",
       "one host measures closer for a while; who asks is an operator",
       WithServer({"interval", "top_k", "top_hold", "lease", "end"}),
       {"text"},
       DeepDive},
      {"doctor",
       "[flags]",
       "what can be measured on this host",
       {"output"},
       {"table", "json"},
       Doctor},
      {"certs",
       "ca | server NAME... | host NAME | reader NAME | operator NAME",
       "certificates for a small site",
       {"dir", "domain", "days"},
       {"table"},
       Certs},
      {"report",
       "FILE... [flags]",
       "what recorded runs came to: rates, waits, holds, and the longest holds",
       {"output", "lkml", "each", "holds"},
       {"table", "json", "csv"},
       Report},
      {"compare",
       "BASE... [--base=WHICH] -- NEW... [--new=WHICH]\n"
       "swaplock compare FILE... --base=WHICH --new=WHICH",
       "recorded runs of two kernels or variants against each other (what a\n"
       "server knows of two kernels: swaplock verdicts)",
       {"base", "new", "differ", "output", "lkml", "force",
        "fail_on_regression"},
       {"table", "json", "csv"},
       Compare},
      {"record",
       "-o FILE [flags] -- COMMAND [ARGUMENT...]",
       "measure the locks while a command runs",
       {"o", "run", "variant", "label", "repeat", "interval", "agent", "quiet",
        "host_id", "top_k", "cpu_budget", "without"},
       {"text"},
       RecordCommand},
      {"merge",
       "-o FILE FILE...",
       "make one record file of several; what they share is in it once",
       {"o"},
       {"text"},
       Merge},
      {"convert",
       "FILE... [--output=json] | --from=json FILE... -o FILE",
       "a record file as lines of JSON on stdout, and back (\"-\": stdin)",
       {"from", "o", "output"},
       {"json"},
       Convert},
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
