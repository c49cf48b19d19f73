#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "cli/query/server_flags.h"
#include "cli/query/verdict_text.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

namespace swaplock {

int Verdicts(const Words& words) {
  if (!words.words.empty() || words.dashes) {
    return UsageError("verdicts", "it takes flags only");
  }
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) {
    std::fprintf(stderr, "swaplock: %s\n",
                 std::string(client.status().message()).c_str());
    return kExitConfig;
  }
  const absl::StatusOr<v1::VerdictList> verdicts = client->ListVerdicts();
  if (!verdicts.ok()) {
    std::fprintf(stderr, "swaplock: %s\n",
                 verdicts.status().ToString().c_str());
    return kExitUnavailable;
  }
  std::string text;
  if (absl::GetFlag(FLAGS_output) == "json") {
    google::protobuf::util::JsonPrintOptions json;
    json.preserve_proto_field_names = true;
    // A count of 0 is a statement here.
    json.always_print_primitive_fields = true;
    const auto status =
        google::protobuf::util::MessageToJsonString(*verdicts, &text, json);
    if (!status.ok()) {
      std::fprintf(stderr, "swaplock: write JSON\n");
      return 1;
    }
    text += "\n";
  } else {
    text = VerdictsText(*verdicts);
  }
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace swaplock
