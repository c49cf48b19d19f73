#include "cli/query/verdict_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/match.h"

namespace swaplock {
namespace {

v1::Verdict Sample() {
  v1::Verdict verdict;
  verdict.set_kernel_base("6.12.1");
  verdict.set_kernel_new("6.18.15");
  verdict.set_subsystem(v1::SUBSYSTEM_ZRAM);
  verdict.set_operation(v1::OPERATION_READ);
  verdict.set_outcome("waits_over_10ms_per_million");
  verdict.set_kind(v1::VERDICT_KIND_REGRESSION);
  verdict.set_sentence("Reads wait longer.");
  verdict.set_hosts_base(9);
  verdict.set_hosts_new(8);
  verdict.set_p_value(0.0015);
  verdict.set_p_exact(true);
  verdict.set_ratio(2);
  verdict.set_ratio_lower(1.5);
  verdict.set_ratio_upper(3.25);
  return verdict;
}

TEST(VerdictsTextTest, RowAndSentence) {
  v1::VerdictList list;
  *list.add_verdicts() = Sample();
  const std::string text = VerdictsText(list);
  for (const absl::string_view part :
       {"REGRESSION", "6.12.1 -> 6.18.15", "zram read", "9 and 8",
        "2.00 (1.50 to 3.25)", "0.0015", "\nReads wait longer.\n"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
  }
}

TEST(VerdictsTextTest, WhatWasNotTestedIsADash) {
  v1::VerdictList list;
  v1::Verdict verdict = Sample();
  verdict.set_kind(v1::VERDICT_KIND_INCONCLUSIVE);
  verdict.set_reason("fewer than 8 hosts");
  verdict.set_p_value(std::numeric_limits<double>::quiet_NaN());
  verdict.set_ratio(std::numeric_limits<double>::quiet_NaN());
  *list.add_verdicts() = verdict;
  const std::string text = VerdictsText(list);
  EXPECT_TRUE(absl::StrContains(text, "9 and 8      -  -\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "(fewer than 8 hosts)")) << text;
  EXPECT_FALSE(absl::StrContains(text, "nan")) << text;
}

TEST(VerdictsTextTest, NoneIsSaid) {
  EXPECT_TRUE(absl::StrContains(VerdictsText({}), "no verdicts"));
}

}  // namespace
}  // namespace swaplock
