#include "cli/query/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/query/explanation_text.h"
#include "cli/query/verdict_export.h"
#include "common/testing.h"
#include "common/text_table.h"
#include "common/window.h"
#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text in testdata, which tells how the form looks. With
// SWAPLOCK_WRITE_GOLDEN set to the folder it is written there instead.
void ExpectGolden(absl::string_view name, absl::string_view text) {
  if (const char* folder = std::getenv("SWAPLOCK_WRITE_GOLDEN")) {
    std::ofstream(absl::StrCat(folder, "/", name)) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(absl::StrCat("cli/query/testdata/", name)).rdbuf();
  EXPECT_EQ(text, golden.str()) << name;
}

v1::VerdictExplanation Explanation(const VerdictBook& book) {
  v1::VerdictExplanation said;
  *said.mutable_verdict() = ToProto(book.verdicts[0]);
  *said.mutable_incident() = ToProto(book.incidents[0]);
  *said.mutable_pair() = ToProto(book.pairs[0]);
  const v1::Window window = ToProto(MakeWindow("web-17", 1));
  v1::TopHold* top = said.add_exemplars();
  top->set_host_id("web-17");
  top->set_kernel_release("6.18.15");
  *top->mutable_key() = window.cells(0).key();
  *top->mutable_hold() = window.top_holds(0);
  StoredVerdict earlier = book.verdicts[0];
  earlier.version = 2;
  earlier.record.kind = VerdictKind::kInconclusive;
  earlier.last_day -= 3;
  *said.add_history() = ToProto(book.verdicts[0]);
  *said.add_history() = ToProto(earlier);
  return said;
}

size_t LongestLine(const std::string& text) {
  size_t longest = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    longest = std::max(longest, CharactersIn(line));
  }
  return longest;
}

TEST(VerdictTextTest, FormsLookAsTheyDid) {
  const VerdictBook book = TestBook();
  ExpectGolden("verdicts.txt", VerdictsText(book, {100}));
  ExpectGolden("verdicts_narrow.txt",
               VerdictsText(book, {60, /*chosen=*/false, /*self_test=*/true}));
  ExpectGolden("verdicts.csv", VerdictsCsv(book));
  FakeDesk desk;
  const auto compared = desk.Compare({"6.12.57", "6.18.15"});
  ASSERT_TRUE(compared.ok());
  ExpectGolden("verdicts_compare.txt", ComparisonText(*compared, {100}));
  const auto explained = ExplanationText(Explanation(book), 100);
  ASSERT_TRUE(explained.ok()) << explained.status();
  ExpectGolden("verdict_explained.txt", *explained);
  const auto narrow = ExplanationText(Explanation(book), 60);
  ASSERT_TRUE(narrow.ok());
  ExpectGolden("verdict_explained_narrow.txt", *narrow);
}

TEST(VerdictTextTest, ListsFitATerminal) {
  EXPECT_LE(LongestLine(VerdictsText(TestBook(), {100})), 100);
  EXPECT_LE(LongestLine(VerdictsText(TestBook(), {80})), 80);
}

TEST(VerdictTextTest, NoneIsSaid) {
  VerdictBook book;
  book.remark = "No two kernels have hosts.";
  EXPECT_EQ(VerdictsText(book),
            "No verdicts yet.\nNo two kernels have hosts.\n\nNo self-test was "
            "made yet.\n");
  EXPECT_THAT(VerdictsText({}, {0, /*chosen=*/true}),
              HasSubstr("No verdict is like that."));
}

TEST(VerdictTextTest, HostileTextDoesNotReachTheTerminal) {
  const std::string evil = "\x1b[2J\x07\r\n9 REGRESSION";
  VerdictBook book = TestBook();
  StoredVerdict& v = book.verdicts[0];
  VerdictRecord& r = v.record;
  r.kernel_new = r.kernel_base = r.sentence = r.reason = evil;
  r.findings = r.builds_after = r.co_changes = {evil};
  r.lock_model_new = evil;
  r.gates = {{evil, true, evil}};
  r.strata[0].name = evil;
  r.top_hosts[0].host_id = evil;
  v.went_away = v.silent_because = v.mark.by = v.mark.reason = evil;
  v.mark.state = VerdictState::kSuppressed;
  book.remark = evil;
  book.incidents[0].pair = {evil, evil};
  book.pairs[0].pair = {evil, evil};
  book.pairs[0].chosen_because = evil;
  book.pairs[0].holdback[1].advice = evil;
  book.self_test.kernel_release = evil;
  v1::VerdictExplanation said = Explanation(book);
  said.mutable_exemplars(0)->set_host_id(evil);
  const auto explained = ExplanationText(said, 80);
  ASSERT_TRUE(explained.ok());
  PairComparison compared;
  compared.pair = {evil, evil};
  compared.remark = evil;
  compared.verdicts = {r};
  for (const std::string& text :
       {VerdictsText(book, {80, false, true}), *explained,
        ComparisonText(compared, {80}), VerdictsCsv(book)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\n9 REGRESSION")));
  }
}

TEST(VerdictTextTest, WhatAnotherVersionSaysIsNotGuessed) {
  v1::VerdictExplanation said = Explanation(TestBook());
  said.mutable_verdict()->mutable_record()->set_outcome("tea");
  EXPECT_EQ(ExplanationText(said, 80).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace swaplock
