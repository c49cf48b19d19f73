#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/line_width.h"
#include "cli/query/command_answer.h"
#include "cli/query/server_flags.h"
#include "cli/query/verdict_export.h"
#include "cli/query/verdict_question.h"
#include "cli/query/verdict_text.h"
#include "cli/subcommands.h"
#include "common/text_table.h"
#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_listing.h"
#include "server/verdict/verdict_words.h"

ABSL_DECLARE_FLAG(std::string, kernel);
ABSL_FLAG(std::string, pair, "",
          "BASE..NEW: of these two kernels only; one may be left out");
ABSL_FLAG(std::vector<std::string>, kind, {},
          "of these kinds only: regression, improvement, mixed ...");
ABSL_FLAG(std::string, subsystem, "", "zswap or zram");
ABSL_FLAG(std::string, op, "", "load, store, read or write");
ABSL_FLAG(std::vector<std::string>, state, {},
          "new, acknowledged or suppressed");
ABSL_FLAG(uint64_t, incident, 0, "that belong to this incident");
ABSL_FLAG(bool, self_test, false,
          "show how often the engine is wrong on hosts that kept their kernel, "
          "and what it finds there");
ABSL_FLAG(std::string, reason, "", "why; a suppression needs one");
ABSL_FLAG(std::string, for, "",
          "how long it is suppressed: 36h, 14d, 2w; at most 365d");
ABSL_FLAG(std::string, by, "",
          "who says so, where the server knows nobody by a credential; your "
          "name");

namespace swaplock {
namespace {

std::string MyName() {
  if (!absl::GetFlag(FLAGS_by).empty()) return absl::GetFlag(FLAGS_by);
  for (const char* variable : {"USER", "LOGNAME"}) {
    const char* name = std::getenv(variable);
    if (name != nullptr && *name != '\0') return name;
  }
  return absl::StrCat("uid ", getuid());
}

int List() {
  VerdictChoice choice;
  choice.pair = absl::GetFlag(FLAGS_pair);
  choice.kernel = absl::GetFlag(FLAGS_kernel);
  choice.kinds = absl::GetFlag(FLAGS_kind);
  choice.subsystem = absl::GetFlag(FLAGS_subsystem);
  choice.operation = absl::GetFlag(FLAGS_op);
  choice.states = absl::GetFlag(FLAGS_state);
  choice.incident = absl::GetFlag(FLAGS_incident);
  const absl::StatusOr<v1::ListVerdictsRequest> request = RequestOf(choice);
  if (!request.ok()) return UsageError("verdicts", request.status().message());
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) return AnswerConfig(client.status());
  const absl::StatusOr<v1::VerdictBook> answer = client->ListVerdicts(*request);
  if (!answer.ok()) return AnswerFailed(answer.status());
  const absl::StatusOr<VerdictBook> book = FromProto(*answer);
  if (!book.ok()) return AnswerUnreadable(book.status());
  NoteReplay(answer->replay());
  const std::string output = absl::GetFlag(FLAGS_output);
  const int status =
      std::any_of(book->verdicts.begin(), book->verdicts.end(), IsRegression)
          ? 1
          : 0;
  return Print(output == "json" ? AnswerJson(*answer)
               : output == "csv"
                   ? VerdictsCsv(*book)
                   : VerdictsText(*book, {LineWidth(), !choice.empty(),
                                          absl::GetFlag(FLAGS_self_test)}),
               status);
}

absl::StatusOr<v1::StoredVerdict> Tell(const std::string& act, uint64_t id,
                                       absl::Duration suppression,
                                       QueryClient* client) {
  if (act == "acknowledge") {
    v1::AcknowledgeVerdictRequest request;
    request.set_id(id);
    request.set_by(MyName());
    request.set_reason(absl::GetFlag(FLAGS_reason));
    return client->Acknowledge(request);
  }
  if (act == "suppress") {
    v1::SuppressVerdictRequest request;
    request.set_id(id);
    request.set_by(MyName());
    request.set_reason(absl::GetFlag(FLAGS_reason));
    request.set_until_unix_ns(
        static_cast<uint64_t>(absl::ToUnixNanos(absl::Now() + suppression)));
    return client->Suppress(request);
  }
  v1::ReopenVerdictRequest request;
  request.set_id(id);
  request.set_by(MyName());
  return client->Reopen(request);
}

int Act(const Words& words) {
  const std::string& act = words.words[0];
  if (act != "acknowledge" && act != "suppress" && act != "reopen") {
    return UsageError("verdicts",
                      "it takes flags, or acknowledge, suppress or reopen and "
                      "a verdict's number");
  }
  if (words.words.size() != 2) {
    return UsageError("verdicts",
                      absl::StrCat(act, " needs one verdict's number"));
  }
  const absl::StatusOr<uint64_t> id = VerdictIdOf(words.words[1]);
  if (!id.ok()) return UsageError("verdicts", id.status().message());
  absl::Duration suppression;
  if (act == "suppress") {
    const absl::StatusOr<absl::Duration> given =
        SuppressionOf(absl::GetFlag(FLAGS_for));
    if (!given.ok()) return UsageError("verdicts", given.status().message());
    suppression = *given;
    if (absl::GetFlag(FLAGS_reason).empty()) {
      return UsageError("verdicts", "suppress needs a --reason");
    }
  }
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) return AnswerConfig(client.status());
  const absl::StatusOr<v1::StoredVerdict> answer =
      Tell(act, *id, suppression, &*client);
  if (!answer.ok()) return AnswerFailed(answer.status());
  if (absl::GetFlag(FLAGS_output) == "json") {
    return Print(AnswerJson(*answer), 0);
  }
  const absl::StatusOr<StoredVerdict> verdict = FromProto(*answer);
  if (!verdict.ok()) return AnswerUnreadable(verdict.status());
  return Print(
      absl::StrCat(
          Wrapped(Printable(absl::StrCat("Verdict ", verdict->id, " is ",
                                         MarkText(verdict->mark), ".")),
                  "", "", LineWidth()),
          Wrapped(Printable(verdict->record.sentence), "", "", LineWidth())),
      0);
}

}  // namespace

int Verdicts(const Words& words) {
  if (words.dashes) return UsageError("verdicts", "it takes no --");
  return words.words.empty() ? List() : Act(words);
}

}  // namespace swaplock
