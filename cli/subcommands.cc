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
       "the locks of a server's fleet, or of this host, live",
       WithServer({"output", "kernel", "interval", "seconds", "once", "explain",
                   "agent"}),
       {"table", "json"},
       Top},
      {"kernels",
       "[flags]",
       "a server's kernels: hosts, acquisitions, waits and holds of each",
       WithServer({"output", "kernel"}),
       {"table", "json", "csv"},
       Kernels},
      {"hosts",
       "[flags]",
       "a server's hosts",
       WithServer({"output", "kernel", "host"}),
       {"table", "json", "csv"},
       Hosts},
      {"holds",
       "[flags]",
       "the longest holds of the last 24 hours that a server knows",
       WithServer({"output", "kernel", "host"}),
       {"table", "json", "csv"},
       Holds},
      {"verdicts",
       "[flags]\n"
       "swaplock verdicts acknowledge ID [--reason=TEXT]\n"
       "swaplock verdicts suppress ID --reason=TEXT --for=14d\n"
       "swaplock verdicts reopen ID",
       "kernels against each other, as a server sees it",
       WithServer({"pair", "kernel", "kind", "subsystem", "op", "state",
                   "incident", "self_test", "output", "reason", "for", "by"}),
       {"table", "json", "csv"},
       Verdicts},
      {"explain",
       "ID [flags]",
       "one verdict of a server, and all that it rests on",
       WithServer({"history", "output"}),
       {"table", "json"},
       Explain},
      {"quarantine",
       "[flags]\n"
       "swaplock quarantine release HOST",
       "hosts of which a server takes nothing for a while, and why; who lets "
       "one in again is an operator",
       WithServer({"output", "host"}),
       {"table", "json", "csv"},
       Quarantine},
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
       "swaplock compare FILE... --base=WHICH --new=WHICH\n"
       "swaplock compare KERNEL_BASE KERNEL_NEW --server=HOST:PORT",
       "recorded runs of two kernels or variants against each other, or two\n"
       "kernels as a server's hosts know them",
       WithServer({"base", "new", "differ", "output", "lkml", "force",
                   "fail_on_regression"}),
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
