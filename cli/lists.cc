#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/time/clock.h"
#include "cli/line_width.h"
#include "cli/query/command_answer.h"
#include "cli/query/fleet_list.h"
#include "cli/query/server_flags.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_DECLARE_FLAG(std::string, kernel);  // defined in top.cc
ABSL_FLAG(std::string, host, "", "show this host only, by its id");

namespace swaplock {
namespace {

int List(absl::string_view name, FleetListKind kind, const Words& words) {
  if (!words.words.empty() || words.dashes) {
    return UsageError(name, "it takes flags only");
  }
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) {
    std::fprintf(stderr, "swaplock: %s\n",
                 std::string(client.status().message()).c_str());
    return kExitConfig;
  }
  const absl::StatusOr<v1::Fleet> fleet = client->GetFleet("");
  if (!fleet.ok()) {
    std::fprintf(stderr, "swaplock: %s\n", fleet.status().ToString().c_str());
    return kExitUnavailable;
  }
  NoteReplay(fleet->replay());
  const std::string output = absl::GetFlag(FLAGS_output);
  const FleetList list = ListOf(*fleet, kind, absl::GetFlag(FLAGS_kernel),
                                absl::GetFlag(FLAGS_host), absl::Now(),
                                /*plain=*/output == "csv");
  std::string text;
  if (output == "json") {
    google::protobuf::util::JsonPrintOptions json;
    json.preserve_proto_field_names = true;
    const auto status =
        google::protobuf::util::MessageToJsonString(list.message, &text, json);
    if (!status.ok()) {
      std::fprintf(stderr, "swaplock: write JSON\n");
      return 1;
    }
    text += "\n";
  } else {
    text = output == "csv" ? FleetListCsv(list)
                           : FleetListTable(list, LineWidth());
  }
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int Kernels(const Words& words) {
  return List("kernels", FleetListKind::kKernels, words);
}
int Hosts(const Words& words) {
  return List("hosts", FleetListKind::kHosts, words);
}
int Holds(const Words& words) {
  return List("holds", FleetListKind::kHolds, words);
}
int Quarantine(const Words& words) {
  if (!words.words.empty() && words.words[0] == "release") {
    return ReleaseHost(words);
  }
  return List("quarantine", FleetListKind::kQuarantine, words);
}

}  // namespace swaplock
