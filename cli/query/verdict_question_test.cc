#include "cli/query/verdict_question.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(VerdictQuestionTest, WordsBecomeARequest) {
  VerdictChoice choice;
  EXPECT_TRUE(choice.empty());
  choice.pair = "6.12.57..6.18.15";
  choice.kinds = {"regression", "NOT-comparable"};
  choice.subsystem = "zram";
  choice.operation = "read";
  choice.states = {"suppressed"};
  choice.incident = 3;
  EXPECT_FALSE(choice.empty());
  const auto request = RequestOf(choice);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->kernel_base(), "6.12.57");
  EXPECT_EQ(request->kernel_new(), "6.18.15");
  ASSERT_EQ(request->kinds_size(), 2);
  EXPECT_EQ(request->kinds(1), v1::VERDICT_KIND_NOT_COMPARABLE);
  EXPECT_EQ(request->subsystem(), v1::SUBSYSTEM_ZRAM);
  EXPECT_EQ(request->operation(), v1::OPERATION_READ);
  EXPECT_EQ(request->states(0), v1::VERDICT_STATE_SUPPRESSED);
  EXPECT_EQ(request->incident(), 3);
}

TEST(VerdictQuestionTest, OneKernelOfAPairMayBeLeftOut) {
  VerdictChoice choice;
  choice.pair = "..6.18.15";
  EXPECT_EQ(RequestOf(choice)->kernel_base(), "");
  EXPECT_EQ(RequestOf(choice)->kernel_new(), "6.18.15");
  for (const char* pair : {"6.18.15", ".."}) {
    choice.pair = pair;
    EXPECT_FALSE(RequestOf(choice).ok()) << pair;
  }
}

TEST(VerdictQuestionTest, WhatIsNoWordIsToldWithThoseThereAre) {
  VerdictChoice choice;
  choice.kinds = {"bad\x1b[2J"};
  EXPECT_EQ(RequestOf(choice).status().message(),
            "--kind=bad?[2J is none of regression, improvement, "
            "no_material_change, mixed, suspect, inconclusive, not_comparable, "
            "data_quality");
  choice.kinds = {"unspecified"};
  EXPECT_FALSE(RequestOf(choice).ok());
}

TEST(VerdictQuestionTest, Numbers) {
  EXPECT_EQ(*VerdictIdOf("17"), 17);
  for (const char* word : {"", "0", "-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_FALSE(VerdictIdOf(word).ok()) << word;
  }
}

TEST(VerdictQuestionTest, Suppressions) {
  EXPECT_EQ(*SuppressionOf("90m"), absl::Minutes(90));
  EXPECT_EQ(*SuppressionOf("36h"), absl::Hours(36));
  EXPECT_EQ(*SuppressionOf("14d"), absl::Hours(14 * 24));
  EXPECT_EQ(*SuppressionOf("52w"), absl::Hours(364 * 24));
  EXPECT_TRUE(SuppressionOf("365d").ok());
  for (const char* text : {"", "d", "0d", "-1d", "366d", "14", "1.5d", "14y",
                           "999999999999999999w"}) {
    EXPECT_FALSE(SuppressionOf(text).ok()) << text;
  }
}

}  // namespace
}  // namespace swaplock
