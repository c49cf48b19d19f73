#include <cstdint>
#include <string>

#include "absl/flags/flag.h"
#include "cli/line_width.h"
#include "cli/query/command_answer.h"
#include "cli/query/explanation_text.h"
#include "cli/query/server_flags.h"
#include "cli/query/verdict_question.h"
#include "cli/subcommands.h"

ABSL_FLAG(bool, history, false, "its earlier versions too");

namespace swaplock {

int Explain(const Words& words) {
  if (words.words.size() != 1 || words.dashes) {
    return UsageError("explain",
                      "it needs one verdict's number, which swaplock verdicts "
                      "tells");
  }
  const absl::StatusOr<uint64_t> id = VerdictIdOf(words.words[0]);
  if (!id.ok()) return UsageError("explain", id.status().message());
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) return AnswerConfig(client.status());
  v1::GetVerdictRequest request;
  request.set_id(*id);
  request.set_with_history(absl::GetFlag(FLAGS_history));
  const absl::StatusOr<v1::VerdictExplanation> answer =
      client->GetVerdict(request);
  if (!answer.ok()) return AnswerFailed(answer.status());
  NoteReplay(answer->replay());
  if (absl::GetFlag(FLAGS_output) == "json") {
    return Print(AnswerJson(*answer), 0);
  }
  const absl::StatusOr<std::string> text =
      ExplanationText(*answer, LineWidth());
  return text.ok() ? Print(*text, 0) : AnswerUnreadable(text.status());
}

}  // namespace swaplock
