#include "tests/load/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace swaplock {
namespace {

using ::testing::HasSubstr;

std::string Error(absl::string_view text) {
  return std::string(ParseScenarios(text).status().message());
}

TEST(ScenarioFileTest, AbsentFieldsHaveTheUsualValues) {
  const auto scenarios = ParseScenarios(
      "scenario { name: 'plain' } scenario { name: 'x' waves: 3 ratio: 1.5 }");
  ASSERT_TRUE(scenarios.ok()) << scenarios.status();
  ASSERT_EQ(scenarios->size(), 2u);
  EXPECT_EQ((*scenarios)[0].hosts_per_arm, 60);
  EXPECT_EQ((*scenarios)[0].ratio, 1);
  EXPECT_EQ((*scenarios)[1].waves, 3);
  EXPECT_EQ((*scenarios)[1].ratio, 1.5);
}

TEST(ScenarioFileTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(Error("scenario {\n  name: 'a'\n  wave: 2\n}"),
              HasSubstr("line 3, column 7"));
  EXPECT_EQ(Error("scenario { ratio: 2 }"), "a scenario has no name");
  EXPECT_EQ(Error("scenario { name: 'a' attrition: 2 }"),
            "scenario \"a\": attrition is 2, and may be from 0 to 1");
  EXPECT_EQ(Error("scenario { name: 'a' ratio: nan }"),
            "scenario \"a\": ratio is nan, and may be from 1e-06 to 1e+06");
  EXPECT_EQ(Error("scenario { name: 'a' } scenario { name: 'a' }"),
            "two scenarios are called \"a\"");
  EXPECT_THAT(Error("scenario { name: 'a' worst_first: 0.8 ratio: 2 }"),
              HasSubstr("worst_first goes only with"));
  EXPECT_EQ(ReadScenarios("no/such/file").status().message(),
            "no/such/file: cannot be read");
}

TEST(ScenarioFileTest, TheFilesOfTheProjectAreSound) {
  for (const char* const name : {"false_alarms", "power", "rollout"}) {
    const auto scenarios = ReadScenarios(std::string("tests/load/scenarios/") +
                                         name + ".textproto");
    ASSERT_TRUE(scenarios.ok()) << scenarios.status();
    EXPECT_FALSE(scenarios->empty());
  }
}

}  // namespace
}  // namespace swaplock
