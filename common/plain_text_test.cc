#include "common/plain_text.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(PlainTextTest, IsUtf8WithoutControls) {
  for (const char* good : {"", "zram0", "Gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac",
                           "\xf0\x9f\x94\x92", "{le=\"x\"}", "<b>&"}) {
    EXPECT_TRUE(IsPlainText(good)) << good;
    EXPECT_EQ(PlainText(good), good);
  }
  for (const char* bad :
       {"\x01", "\x7f", "\xc2\x85", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xc3", "\xe2\x82",
        "a\nb", "\xe2\x80\xa8", "\xe2\x80\xae z", "\xe2\x81\xa6",
        "\xef\xbb\xbf", "\xf3\xa0\x81\x81", "\xd8\x9c"}) {
    EXPECT_FALSE(IsPlainText(bad)) << testing::PrintToString(bad);
    EXPECT_TRUE(IsPlainText(PlainText(bad))) << testing::PrintToString(bad);
  }
}

TEST(PlainTextTest, ReplacesOnlyWhatIsBad) {
  EXPECT_EQ(PlainText("a\nb"), "a?b");
  EXPECT_EQ(PlainText("\xff\xfe"), "??");
  EXPECT_EQ(PlainText("fifteen bytes \xc3"), "fifteen bytes ?");
  EXPECT_EQ(PlainText("\xe2\x82z\xc3\xbc"), "??z\xc3\xbc");
  EXPECT_EQ(PlainText("\xc2\x85"), "?");
  EXPECT_EQ(PlainText(absl::string_view("a\0b", 3)), "a?b");
}

TEST(PlainTextTest, IsCutBeforeACharacter) {
  EXPECT_EQ(PlainText("12345", 3), "123");
  EXPECT_EQ(PlainText("12\xc3\xbc", 3), "12");
  EXPECT_EQ(PlainText("12\xc3\xbc", 4), "12\xc3\xbc");
}

}  // namespace
}  // namespace swaplock
