#include "common/run.h"

#include <gtest/gtest.h>

#include "common/testing.h"

namespace swaplock {
namespace {

RunResult Result() {
  RunResult result;
  Measurement reads{"high_priority_read", 2, -19, {}, 0};
  reads.Add(3'000'000);
  reads.Add(11'000'000);
  result.measurements.push_back(reads);
  result.facts["writers"] = "4";
  return result;
}

TEST(RunTest, ResultSurvivesItsJson) {
  const std::string json = ResultJson(Result());
  const absl::StatusOr<RunResult> read = ParseResultJson(json);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->measurements.size(), 1u);
  EXPECT_EQ(read->measurements[0].nice, -19);
  EXPECT_EQ(read->measurements[0].latency.Count(), 2u);
  EXPECT_EQ(read->measurements[0].latency.over_10ms, 1u);
  EXPECT_DOUBLE_EQ(read->measurements[0].sum_of_squares_ns2, 1.3e14);
  EXPECT_EQ(read->facts.at("writers"), "4");
  EXPECT_EQ(ResultJson(*read), json);
}

TEST(RunTest, TextThatIsNoResultIsRefused) {
  for (const char* text : {"", "{", "[]", "{\"unknown\": 1}",
                           R"({"measurements":[{"latency":{"count":"1"}}]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseResultJson(text).status()))
        << text;
  }
}

TEST(RunTest, BeginSurvivesItsMessage) {
  RunBegin begin;
  begin.id = "0123456789abcdef";
  begin.name = "inversion";
  begin.variant = "patched";
  begin.repetition = 2;
  begin.boot_id = std::string(16, 'b');
  begin.labels["cpu"] = "x";
  begin.environment.kernel_release = "6.18.15";
  const absl::StatusOr<RunBegin> read = FromProto(ToProto(begin));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->variant, "patched");
  EXPECT_EQ(read->repetition, 2u);
  EXPECT_EQ(read->labels, begin.labels);
  EXPECT_EQ(read->environment.kernel_release, "6.18.15");
}

TEST(RunTest, RunWithoutNameOrBootIsRefused) {
  EXPECT_FALSE(FromProto(v1::RunBegin()).ok());
  EXPECT_FALSE(FromProto(v1::RunEnd()).ok());
}

}  // namespace
}  // namespace swaplock
