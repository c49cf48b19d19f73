#include "server/steering/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace swaplock {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'796'112'000);  // 08:00:00 UTC

class Heard : public Steering::Line {
 public:
  void Say(std::vector<v1::ServerMessage> notices) override {
    std::move(notices.begin(), notices.end(), std::back_inserter(all));
  }
  std::vector<v1::ServerMessage> all;
};

std::string Until(absl::Duration from_now) {
  return absl::FormatTime(absl::RFC3339_full, kNow + from_now,
                          absl::UTCTimeZone());
}

TEST(SettingsFileTest, SaysWhatIsForAllAndForOne) {
  const auto settings = ParseSettings(
      "interval_ms: 10000\r\ntop_k: 4 # few\n"
      "deep_dive { host_id: 'a' interval_ms: 500 until: '" +
          Until(absl::Minutes(5)) + "' }",
      kNow);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->for_all.interval_ms(), 10'000u);
  EXPECT_EQ(settings->for_all.top_k(), 4u);
  EXPECT_EQ(settings->host_id, "a");
  EXPECT_EQ(settings->deep_dive.interval_ms(), 500u);
  EXPECT_EQ(settings->deep_dive.lease_ms(), 300'000u);
}

TEST(SettingsFileTest, ADeepDiveThatIsOverIsNone) {
  const auto settings = ParseSettings(
      "deep_dive { host_id: 'a' until: '" + Until(-absl::Seconds(1)) + "' }",
      kNow);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->host_id, "");
}

TEST(SettingsFileTest, EmptyIsAsAgentsWereStarted) {
  const auto settings = ParseSettings("", kNow);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->for_all.interval_ms(), 0u);
}

TEST(SettingsFileTest, WhatCannotBeUsedIsSaidInASentence) {
  const struct {
    std::string text;
    const char* sentence;
  } kWrong[] = {
      {"interval_ms: 1000\nintervall: 3", "line 2"},
      {"interval_ms: \"fast\"", "line 1"},
      {"interval_ms: -1", "line 1"},
      {"\xEF\xBB\xBF"
       "interval_ms: 1000",
       "line 1"},
      {std::string("\0\xff\x01", 3), "line 1"},
      {"interval_ms: 5", "is not within 100 to 3600000"},
      {"top_k: 1000", "64"},
      {"deep_dive { host_id: 'a b' }", "is no host_id"},
      {"deep_dive { host_id: 'a' until: 'soon' }", "until is a time"},
      {"deep_dive { host_id: 'a' until: '" + Until(absl::Hours(2)) + "' }",
       "at most an hour"},
      {"deep_dive { host_id: 'a' interval_ms: 1 until: '" +
           Until(absl::Minutes(2)) + "' }",
       "deep_dive: an interval of 1 ms"},
  };
  for (const auto& [text, sentence] : kWrong) {
    const auto settings = ParseSettings(text, kNow);
    ASSERT_TRUE(absl::IsInvalidArgument(settings.status())) << text;
    EXPECT_THAT(std::string(settings.status().message()), HasSubstr(sentence));
  }
}

TEST(SettingsFileTest, AChangedFileIsReadAndABadOneChangesNothing) {
  std::string pattern = ::testing::TempDir() + "/settings.XXXXXX";
  const std::string path = std::string(mkdtemp(pattern.data())) + "/file";
  Steering steering{Clock()};
  SettingsFile file(path, &steering);
  const auto line = std::make_shared<Heard>();
  steering.Opened("a", line);
  EXPECT_FALSE(file.Read(kNow).ok());

  ASSERT_TRUE(ReplaceFile(path, "interval_ms: 1000", 0644).ok());
  ASSERT_TRUE(file.ReadIfChanged(kNow).ok());
  ASSERT_TRUE(file.ReadIfChanged(kNow).ok());
  ASSERT_EQ(line->all.size(), 1u);
  EXPECT_EQ(line->all[0].settings().interval_ms(), 1'000u);

  ASSERT_TRUE(ReplaceFile(path, "interval_ms: 1", 0644).ok());
  const absl::Status status = file.ReadIfChanged(kNow);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_EQ(line->all.size(), 1u);

  ASSERT_TRUE(ReplaceFile(path,
                          "deep_dive { host_id: 'a' interval_ms: 200 until: '" +
                              Until(absl::Minutes(1)) + "' }",
                          0644)
                  .ok());
  ASSERT_TRUE(file.ReadIfChanged(kNow).ok());
  EXPECT_EQ(line->all.back().settings().interval_ms(), 200u);
  EXPECT_GT(line->all.back().settings().lease_ms(), 0u);
  // Taken out of the file, it is over.
  ASSERT_TRUE(ReplaceFile(path, "", 0644).ok());
  ASSERT_TRUE(file.ReadIfChanged(kNow).ok());
  EXPECT_EQ(line->all.back().settings().lease_ms(), 0u);
}

}  // namespace
}  // namespace swaplock
