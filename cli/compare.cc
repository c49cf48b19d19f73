#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cli/compare/comparison.h"
#include "cli/compare/comparison_arms.h"
#include "cli/compare/comparison_export.h"
#include "cli/compare/comparison_text.h"
#include "cli/report/recorded_run.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_FLAG(std::string, base, "",
          "of the base files (or of all, without \"--\") the runs of this "
          "variant, kernel (\"6.12\") or label (\"NAME=VALUE\"; also kernel=, "
          "variant=, preempt=, host=, run=)");
ABSL_FLAG(std::string, new, "", "likewise of the new files");
ABSL_FLAG(std::vector<std::string>, differ, {},
          "settings, by the names that the output gives them, in which the "
          "sides may differ because that is what is compared: "
          "--differ=codec,slow_holder_ms");
ABSL_FLAG(bool, force, false,
          "show what is not comparable, with the reason on top; nothing of it "
          "is judged");
ABSL_FLAG(
    bool, fail_on_regression, false,
    "exit with status 1 if something judged got worse; without it only 0, "
    "2 for usage, and 78 for what cannot be read or compared");

namespace swaplock {
namespace {

struct Inputs {
  Recordings base;
  Recordings newer;  // not used if one set of files has both sides
  std::vector<Arms> arms;
  std::vector<std::string> remarks;
};

int Failed(const absl::Status& status) {
  std::fprintf(stderr, "swaplock compare: %s\n",
               std::string(status.message()).c_str());
  return kExitConfig;
}

// 0, or the exit status after a message.
int ReadInputs(const Words& words, Inputs* inputs) {
  absl::StatusOr<Recordings> base = ReadRecordings(words.words);
  if (!base.ok()) return Failed(base.status());
  inputs->base = *std::move(base);
  inputs->remarks = inputs->base.remarks;
  if (words.dashes) {
    absl::StatusOr<Recordings> newer = ReadRecordings(words.after_dashes);
    if (!newer.ok()) return Failed(newer.status());
    inputs->newer = *std::move(newer);
    for (const std::string& remark : inputs->newer.remarks) {
      if (std::find(inputs->remarks.begin(), inputs->remarks.end(), remark) ==
          inputs->remarks.end()) {
        inputs->remarks.push_back(remark);
      }
    }
  }
  const Recordings& newer_files = words.dashes ? inputs->newer : inputs->base;
  const Recordings* const sides[] = {&inputs->base, &newer_files};
  for (const Recordings* side : sides) {
    if (!side->runs.empty()) continue;
    for (const std::string& remark : inputs->remarks) {
      std::fprintf(stderr, "swaplock compare: %s\n", remark.c_str());
    }
    return Failed(absl::FailedPreconditionError(
        absl::StrCat("the ", side == &inputs->base ? "base" : "new",
                     " files hold no runs")));
  }
  const absl::StatusOr<Runs> from =
      SelectRuns(inputs->base.runs, absl::GetFlag(FLAGS_base));
  const absl::StatusOr<Runs> to =
      SelectRuns(newer_files.runs, absl::GetFlag(FLAGS_new));
  for (const absl::Status& status : {from.status(), to.status()}) {
    if (!status.ok()) return UsageError("compare", status.message());
  }
  absl::StatusOr<std::vector<Arms>> arms = PairRuns(*from, *to);
  if (!arms.ok()) return UsageError("compare", arms.status().message());
  inputs->arms = *std::move(arms);
  return 0;
}

int CheckWords(const Words& words) {
  if (words.words.empty()) {
    return UsageError("compare", "it needs record files");
  }
  if (words.dashes && words.after_dashes.empty()) {
    return UsageError("compare", "it needs the new files after \"--\"");
  }
  if (!words.dashes &&
      (absl::GetFlag(FLAGS_base).empty() || absl::GetFlag(FLAGS_new).empty())) {
    return UsageError("compare",
                      "it needs \"--\" and the new files, or --base and --new "
                      "to choose from the same");
  }
  if (absl::GetFlag(FLAGS_force) && absl::GetFlag(FLAGS_fail_on_regression)) {
    return UsageError("compare",
                      "--force judges nothing, so it cannot go with "
                      "--fail_on_regression");
  }
  if (absl::GetFlag(FLAGS_lkml) && absl::GetFlag(FLAGS_output) != "table") {
    return UsageError("compare", "--lkml is a form of --output=table");
  }
  return 0;
}

std::string TextOf(const std::vector<Comparison>& comparisons) {
  const TextForm form =
      absl::GetFlag(FLAGS_lkml) ? kMailForm : TextForm{100, false};
  std::string text;
  for (const Comparison& comparison : comparisons) {
    absl::StrAppend(&text, text.empty() ? "" : "\n\n",
                    ComparisonText(comparison, form));
  }
  return text;
}

bool Any(const std::vector<Comparison>& comparisons, Finding finding) {
  return std::any_of(
      comparisons.begin(), comparisons.end(),
      [finding](const Comparison& one) { return one.finding == finding; });
}

int ExitStatus(const std::vector<Comparison>& comparisons) {
  const bool worse =
      Any(comparisons, Finding::kWorse) || Any(comparisons, Finding::kMixed);
  if (worse && absl::GetFlag(FLAGS_fail_on_regression)) return 1;
  const bool refused = Any(comparisons, Finding::kNotComparable);
  return refused && !absl::GetFlag(FLAGS_force) ? kExitConfig : 0;
}

}  // namespace

int Compare(const Words& words) {
  if (words.flags.count("server") > 0) return CompareKernels(words);
  if (const int status = CheckWords(words); status != 0) return status;
  Inputs inputs;
  if (const int status = ReadInputs(words, &inputs); status != 0) {
    return status;
  }
  CompareRules rules;
  rules.force = absl::GetFlag(FLAGS_force);
  const std::vector<std::string> differ = absl::GetFlag(FLAGS_differ);
  rules.may_differ.insert(differ.begin(), differ.end());
  std::vector<Comparison> comparisons;
  comparisons.reserve(inputs.arms.size());
  for (const Arms& arms : inputs.arms) {
    comparisons.push_back(Compare(arms, rules));
  }
  std::string text;
  if (absl::GetFlag(FLAGS_output) == "json") {
    absl::StatusOr<std::string> json =
        ComparisonsJson(comparisons, inputs.remarks);
    if (!json.ok()) return Failed(json.status());
    text = *std::move(json);
  } else {
    text = absl::GetFlag(FLAGS_output) == "csv" ? ComparisonsCsv(comparisons)
                                                : TextOf(comparisons);
    for (const std::string& remark : inputs.remarks) {
      std::fprintf(stderr, "swaplock compare: %s\n", remark.c_str());
    }
  }
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? ExitStatus(comparisons) : 1;
}

}  // namespace swaplock
