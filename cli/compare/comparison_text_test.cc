#include "cli/compare/comparison_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/compare/comparison_export.h"
#include "cli/compare/comparison_testing.h"

namespace swaplock {
namespace {

Comparison CompareRuns(const std::vector<RecordedRun>& base,
                       const std::vector<RecordedRun>& newer,
                       bool force = false) {
  CompareRules rules;
  rules.force = force;
  return Compare({"zram-inversion", PointersTo(base), PointersTo(newer), {}},
                 rules);
}

Comparison Inversion() { return CompareRuns(QuietRuns(), InvertedRuns()); }

Comparison Split() {
  TestRun what;
  what.kernel = "7.3.0";
  what.model = LockModel::kSplitMutex;
  what.read_role = Role::kDecompressStream;
  what.hold_runnable_ns = 400'000;
  std::vector<RecordedRun> newer = MakeRuns(what, {5.1, 4.2, 4.8, 4.4, 5.9});
  for (RecordedRun& run : newer) {
    run.context.facts["kernel/CONFIG_PREEMPT_LAZY"] = "y";
  }
  std::vector<RecordedRun> base = InvertedRuns();
  for (RecordedRun& run : base) {
    run.context.facts["kernel/CONFIG_PREEMPT_LAZY"] = "n";
  }
  return CompareRuns(base, newer);
}

// Numbers of every length on either side.
Comparison Wide() {
  TestRun what;
  return CompareRuns(MakeRuns(what, {0.0861, 0.044, 19.99, 0.077, 0.0912}),
                     MakeRuns(what, {0.0736, 0.0322, 14.157, 0.07, 0.08}));
}

Comparison OneRunEach() {
  return CompareRuns({QuietRuns()[0]}, {InvertedRuns()[0]});
}

Comparison NotComparable(bool force) {
  std::vector<RecordedRun> newer = InvertedRuns();
  for (RecordedRun& run : newer) run.end->result.facts["workers"] = "48";
  return CompareRuns(QuietRuns(), newer, force);
}

// The text in testdata, which tells how the form looks. With
// SWAPLOCK_WRITE_GOLDEN set to the folder it is written there instead.
void ExpectGolden(absl::string_view name, absl::string_view text) {
  if (const char* folder = std::getenv("SWAPLOCK_WRITE_GOLDEN")) {
    std::ofstream(absl::StrCat(folder, "/", name)) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(absl::StrCat("cli/compare/testdata/", name)).rdbuf();
  EXPECT_EQ(text, golden.str()) << name;
}

TEST(ComparisonTextTest, FormsLookAsTheyDid) {
  ExpectGolden("compare_mail.txt", ComparisonText(Inversion(), kMailForm));
  ExpectGolden("compare_mail_split.txt", ComparisonText(Split(), kMailForm));
  ExpectGolden("compare_mail_one_run.txt",
               ComparisonText(OneRunEach(), kMailForm));
  ExpectGolden("compare_table.txt", ComparisonText(Inversion(), {}));
  ExpectGolden("compare_refused.txt",
               ComparisonText(NotComparable(false), kMailForm));
  ExpectGolden("compare_forced.txt",
               ComparisonText(NotComparable(true), kMailForm));
  ExpectGolden("compare.csv", ComparisonsCsv({Inversion(), OneRunEach()}));
  const absl::StatusOr<std::string> json =
      ComparisonsJson({OneRunEach()}, {"a remark"});
  ASSERT_TRUE(json.ok()) << json.status();
  ExpectGolden("compare.json", *json);
}

TEST(ComparisonTextTest, MailsArePlainAsciiOf72Columns) {
  for (const Comparison& comparison :
       {Inversion(), Split(), Wide(), OneRunEach(), NotComparable(true)}) {
    const std::string text = ComparisonText(comparison, kMailForm);
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(line.size(), 72u) << line;
      EXPECT_FALSE(absl::EndsWith(line, " ")) << line;
      for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
    }
  }
}

TEST(ComparisonTextTest, NamesCannotMoveTheCursorOrBreakTheForms) {
  std::vector<RecordedRun> base = QuietRuns();
  std::vector<RecordedRun> newer = InvertedRuns();
  const std::string hostile = "a\x1b[2J\n\xff,\"\xc3\xa9";
  for (auto* runs : {&base, &newer}) {
    for (RecordedRun& run : *runs) {
      run.begin.command = {hostile};
      run.begin.environment.kernel_release = hostile;
      run.end->result.measurements[0].name = hostile;
      run.end->result.facts[hostile] = hostile;
    }
  }
  const Comparison comparison = CompareRuns(base, newer);
  for (const TextForm& form : {TextForm{}, kMailForm}) {
    for (const char c : ComparisonText(comparison, form)) {
      EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
    }
  }
  EXPECT_TRUE(ComparisonsJson({comparison}, {hostile}).ok());
  const std::string csv = ComparisonsCsv({comparison});
  EXPECT_EQ(csv.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace swaplock
