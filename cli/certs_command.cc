#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/time/clock.h"
#include "cli/certs/certs.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_FLAG(std::string, dir, ".", "folder of the files");
ABSL_FLAG(std::string, domain, "swaplock",
          "trust domain of the names, as the server's "
          "--trust_domain");
ABSL_FLAG(int, days, 0,
          "how long it is valid; 0: 3650 for a CA, 397 for others");

namespace swaplock {

int Certs(const Words& words) {
  if (words.dashes) return UsageError("certs", "it takes no --");
  CertsRequest request;
  request.folder = absl::GetFlag(FLAGS_dir);
  request.domain = absl::GetFlag(FLAGS_domain);
  request.days = absl::GetFlag(FLAGS_days);
  request.now = absl::Now();
  const absl::StatusOr<std::string> made = MakeCerts(words.words, request);
  if (!made.ok()) {
    std::fprintf(stderr, "swaplock: certs: %s\n",
                 std::string(made.status().message()).c_str());
    return absl::IsInvalidArgument(made.status()) ? kExitUsage : kExitConfig;
  }
  std::puts(made->c_str());
  return 0;
}

}  // namespace swaplock
