// host_load: simulated hosts against a real server, and what it cost.
#include <stdlib.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/command_line.h"
#include "tests/load/load_run.h"

ABSL_FLAG(uint64_t, hosts, 1'000, "Hosts, each with a connection of its own.");
ABSL_FLAG(uint64_t, witnesses, 50,
          "Hosts besides that stay connected while the others come back.");
ABSL_FLAG(uint64_t, windows, 20, "Windows of each host.");
ABSL_FLAG(absl::Duration, interval, absl::ZeroDuration(),
          "Between two of a host's windows; 0: as fast as acknowledged.");
ABSL_FLAG(bool, storm, true, "All connect once more, at the same moment.");
ABSL_FLAG(uint64_t, poisoned, 1, "Hosts that send what must be refused.");
ABSL_FLAG(uint64_t, deaf, 0, "Hosts that send and never read the answers.");
ABSL_FLAG(uint64_t, silent, 0, "Connections that say nothing.");
ABSL_FLAG(bool, tls, false, "Mutual TLS, a certificate for each host.");
ABSL_FLAG(uint64_t, seed, 1, "Of the windows.");
ABSL_FLAG(absl::Duration, backoff_cap, absl::Seconds(120),
          "The longest that a host waits before it tries again.");
ABSL_FLAG(absl::Duration, patience, absl::Minutes(10),
          "The longest that each part of the run may take.");
ABSL_FLAG(std::string, server, "server/swaplock-server", "The program.");
ABSL_FLAG(std::vector<std::string>, server_flags, {},
          "More flags of the server, with commas between them.");

namespace swaplock {
namespace {

// For thousands of connections, here and in the server.
void RaiseOpenFiles() {
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int Run() {
  RaiseOpenFiles();
  std::string folder = absl::StrCat(
      std::filesystem::temp_directory_path().string(), "/host_load.XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "host_load: cannot make %s\n", folder.c_str());
    return kExitConfig;
  }
  LoadPlan plan;
  plan.server = absl::GetFlag(FLAGS_server);
  plan.server_flags = absl::GetFlag(FLAGS_server_flags);
  plan.folder = folder;
  plan.seed = absl::GetFlag(FLAGS_seed);
  plan.tls = absl::GetFlag(FLAGS_tls);
  plan.hosts = absl::GetFlag(FLAGS_hosts);
  plan.witnesses = absl::GetFlag(FLAGS_witnesses);
  plan.windows = absl::GetFlag(FLAGS_windows);
  plan.interval = absl::GetFlag(FLAGS_interval);
  plan.storm = absl::GetFlag(FLAGS_storm);
  plan.poisoned = absl::GetFlag(FLAGS_poisoned);
  plan.deaf = absl::GetFlag(FLAGS_deaf);
  plan.silent = absl::GetFlag(FLAGS_silent);
  plan.backoff_cap = absl::GetFlag(FLAGS_backoff_cap);
  plan.patience = absl::GetFlag(FLAGS_patience);
  const absl::StatusOr<LoadReport> report = RunLoad(plan);
  std::filesystem::remove_all(folder);
  if (!report.ok()) {
    std::fprintf(stderr, "host_load: %s\n",
                 std::string(report.status().message()).c_str());
    return kExitUnavailable;
  }
  std::fputs(report->Text().c_str(), stdout);
  return report->same && report->exit_status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  const std::vector<std::string> rest = swaplock::ParseCommandLine(
      "host_load [flags]\n\n"
      "Starts a swaplock-server and simulated hosts, and prints a table of "
      "what they\nmeasured. Exit status: 0, 1 when the ledger does not have "
      "exactly what was\nacknowledged, 2 for wrong flags, 69 when a part of "
      "the run did not end.",
      argc, argv);
  if (!rest.empty()) {
    std::fprintf(stderr, "host_load: \"%s\" is not a flag\n", rest[0].c_str());
    return swaplock::kExitUsage;
  }
  return swaplock::Run();
}
