// How subcommands that ask a server end: what they print, and their exit
// status.
#ifndef SWAPLOCK_CLI_QUERY_COMMAND_ANSWER_H_
#define SWAPLOCK_CLI_QUERY_COMMAND_ANSWER_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace swaplock {

// Each says on stderr what is wrong. The server refused or did not answer:
// kExitUsage for what it does not know or take, else kExitUnavailable.
int AnswerFailed(const absl::Status& status);
// It was not asked, because of our flags or files: kExitConfig.
int AnswerConfig(const absl::Status& status);
// It said what this version does not understand: kExitUnavailable.
int AnswerUnreadable(const absl::Status& status);

// Says on stderr what the server says of hosts that do not exist; nothing when
// `replay` is empty.
void NoteReplay(const std::string& replay);

// Field names as in the .proto, all fields present. Ends in a newline.
std::string AnswerJson(const google::protobuf::Message& message);

// Writes to stdout; `status`, or kExitUnavailable when nobody reads it.
int Print(const std::string& text, int status);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_COMMAND_ANSWER_H_
