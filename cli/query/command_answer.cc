#include "cli/query/command_answer.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "common/command_line.h"
#include "common/plain_text.h"

namespace swaplock {

namespace {

int Say(absl::string_view what, const absl::Status& status, int exit_status) {
  std::fprintf(stderr, "swaplock: %s%s\n", std::string(what).c_str(),
               PlainText(status.message()).c_str());
  return exit_status;
}

}  // namespace

int AnswerFailed(const absl::Status& status) {
  const bool ours = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return Say("", status, ours ? kExitUsage : kExitUnavailable);
}

int AnswerConfig(const absl::Status& status) {
  return Say("", status, kExitConfig);
}

int AnswerUnreadable(const absl::Status& status) {
  return Say("the server is of another version: ", status, kExitUnavailable);
}

void NoteReplay(const std::string& replay) {
  if (replay.empty()) return;
  std::fprintf(stderr, "swaplock: %s\n", PlainText(replay).c_str());
}

std::string AnswerJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  // A count of 0 is a statement here.
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  // What came over gRPC is UTF-8, so it has a JSON form.
  return absl::StrCat(status.ok() ? json : "{}", "\n");
}

int Print(const std::string& text, int status) {
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? status : kExitUnavailable;
}

}  // namespace swaplock
