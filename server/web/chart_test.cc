#include "server/web/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ChartTest, IsNothingWithoutData) {
  EXPECT_EQ(Chart("hold", "a hold", nlohmann::json::array()), "");
}

TEST(ChartTest, TextCannotEndTheElement) {
  const std::string html =
      Chart("hold", "<i>", {{"name", "</script><script>alert(1)//<!--&\x80"}});
  EXPECT_THAT(html, HasSubstr("<figcaption>&lt;i&gt;</figcaption>"));
  EXPECT_THAT(html, HasSubstr("\\u003c/script\\u003e"));
  EXPECT_THAT(html, Not(HasSubstr("</script><script>")));
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
  EXPECT_THAT(html, Not(HasSubstr("\x80")));
}

}  // namespace
}  // namespace swaplock
