// swaplock report: what recorded runs came to.
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cli/line_width.h"
#include "cli/report/recorded_run.h"
#include "cli/report/report_export.h"
#include "cli/report/report_text.h"
#include "cli/subcommands.h"
#include "common/command_line.h"
#include "common/plain_text.h"

ABSL_FLAG(bool, each, false,
          "every run by itself instead of the median of repetitions");
ABSL_FLAG(int, holds, 3, "how many of the longest holds are shown");

namespace swaplock {
namespace {

constexpr int kExitIoError = 74;       // as in sysexits.h
constexpr size_t kWidthOfFiles = 100;  // of what goes to no terminal
constexpr size_t kNarrowest = 40;

int BadFile(const absl::Status& status) {
  std::fprintf(stderr, "swaplock report: %s\n",
               PlainText(status.message()).c_str());
  return kExitConfig;
}

size_t Width() {
  const size_t width = LineWidth();
  return width == 0 ? kWidthOfFiles : std::max(width, kNarrowest);
}

}  // namespace

int Report(const Words& words) {
  const std::string output = absl::GetFlag(FLAGS_output);
  const bool mail = absl::GetFlag(FLAGS_lkml);
  const int holds = absl::GetFlag(FLAGS_holds);
  if (words.words.empty() || words.dashes) {
    return UsageError("report", "it takes record files");
  }
  if (mail && output != "table") {
    return UsageError("report", "--lkml is a table");
  }
  if (holds < 0 || holds > static_cast<int>(kLongestKept)) {
    return UsageError("report", absl::StrCat("--holds is 0 to ", kLongestKept));
  }
  const absl::StatusOr<Recordings> recordings = ReadRecordings(words.words);
  if (!recordings.ok()) return BadFile(recordings.status());
  if (output == "csv" || recordings->runs.empty()) {
    for (const std::string& remark : recordings->remarks) {
      std::fprintf(stderr, "swaplock report: %s\n", PlainText(remark).c_str());
    }
  }
  if (recordings->runs.empty()) {
    return BadFile(absl::NotFoundError(
        "there is no run and no window in the files, so nothing to report"));
  }
  absl::StatusOr<std::string> text;
  if (output == "json") {
    text = ReportJson(*recordings, static_cast<size_t>(holds));
  } else if (output == "csv") {
    text = ReportCsv(*recordings);
  } else {
    text = ReportText(*recordings,
                      {mail ? kMailWidth : Width(), mail,
                       absl::GetFlag(FLAGS_each), static_cast<size_t>(holds)});
  }
  if (!text.ok()) {
    std::fprintf(stderr, "swaplock report: %s\n",
                 std::string(text.status().message()).c_str());
    return kExitIoError;
  }
  std::fputs(text->c_str(), stdout);
  if (std::fflush(stdout) != 0) return kExitIoError;
  return 0;
}

}  // namespace swaplock
