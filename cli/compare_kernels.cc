#include <algorithm>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "cli/line_width.h"
#include "cli/query/command_answer.h"
#include "cli/query/server_flags.h"
#include "cli/query/verdict_export.h"
#include "cli/query/verdict_text.h"
#include "cli/subcommands.h"
#include "server/verdict/verdict_book_message.h"

ABSL_DECLARE_FLAG(bool, fail_on_regression);

namespace swaplock {

int CompareKernels(const Words& words) {
  for (const char* flag : {"base", "new", "differ", "lkml", "force"}) {
    if (words.flags.count(flag) > 0) {
      return UsageError(
          "compare",
          absl::StrCat("--", flag,
                       " is for files, and cannot go with --server"));
    }
  }
  if (words.words.size() != 2 || words.dashes || words.words[0].empty() ||
      words.words[1].empty()) {
    return UsageError("compare",
                      "with --server it needs two kernel releases: the base "
                      "and the new one");
  }
  absl::StatusOr<QueryClient> client = ConnectAsFlagsSay();
  if (!client.ok()) return AnswerConfig(client.status());
  v1::CompareKernelsRequest request;
  request.set_kernel_base(words.words[0]);
  request.set_kernel_new(words.words[1]);
  const absl::StatusOr<v1::KernelComparison> answer =
      client->CompareKernels(request);
  if (!answer.ok()) return AnswerFailed(answer.status());
  NoteReplay(answer->replay());
  const absl::StatusOr<PairComparison> compared = FromProto(*answer);
  if (!compared.ok()) return AnswerUnreadable(compared.status());
  const bool worse =
      std::any_of(compared->verdicts.begin(), compared->verdicts.end(),
                  [](const VerdictRecord& record) {
                    return record.kind == VerdictKind::kRegression ||
                           record.kind == VerdictKind::kMixed;
                  });
  const std::string output = absl::GetFlag(FLAGS_output);
  return Print(output == "json"  ? AnswerJson(*answer)
               : output == "csv" ? ComparisonCsv(*compared)
                                 : ComparisonText(*compared, {LineWidth()}),
               worse && absl::GetFlag(FLAGS_fail_on_regression) ? 1 : 0);
}

}  // namespace swaplock
