#include "server/judge/pair_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PairRulesTest, ReadsWhatAnOperatorWrites) {
  const auto rules = ParsePairRules(
      "# kernels\n\nbaseline 6.12.57  # what we trust\n"
      "pair 6.12.57 6.18.15\n\tpair\t6.18.15 7.0.1\nend 7.0.1 2026-12-24\n");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ(rules->baseline, "6.12.57");
  ASSERT_EQ(rules->only.size(), 2u);
  EXPECT_EQ(rules->only[1].base, "6.18.15");
  EXPECT_EQ(rules->only[1].newer, "7.0.1");
  EXPECT_EQ(rules->ends.at("7.0.1"), 20'811);
}

TEST(PairRulesTest, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, complaint] :
       {std::make_pair("baseline", "line 1: \"baseline\" takes one"),
        std::make_pair("baseline a\nbaseline b", "line 2: there is a baseline"),
        std::make_pair("pair a", "line 1: \"pair\" takes two"),
        std::make_pair("pair a a", "line 1: a kernel is not compared with"),
        std::make_pair("\n\nend a 24.12.", "line 3: \"end\" takes a kernel"),
        std::make_pair("end a 2026-02-30", "line 1: \"end\" takes a kernel"),
        std::make_pair("pear a b", "line 1: \"pear\" is not one of")}) {
    const auto rules = ParsePairRules(text);
    EXPECT_EQ(rules.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(rules.status().message()), StartsWith(complaint));
  }
}

TEST(PairRulesTest, AFileThatIsNotThereIsAnErrorAndNoFileIsNone) {
  EXPECT_TRUE(ReadPairRules("").ok());
  EXPECT_THAT(std::string(ReadPairRules("/no/such").status().message()),
              HasSubstr("open /no/such: No such file"));
}

}  // namespace
}  // namespace swaplock
