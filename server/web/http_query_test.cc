#include "server/web/http_query.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

using Parameters = std::map<std::string, std::string>;

TEST(HttpQueryTest, DecodesNamesAndValues) {
  EXPECT_EQ(ParseQuery(""), Parameters());
  EXPECT_EQ(ParseQuery("&&"), Parameters());
  EXPECT_EQ(ParseQuery("a=1&b=2"), (Parameters{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(ParseQuery("a=1&a=2"), (Parameters{{"a", "2"}}));
  EXPECT_EQ(ParseQuery("a"), (Parameters{{"a", ""}}));
  EXPECT_EQ(ParseQuery("a=b=c"), (Parameters{{"a", "b=c"}}));
  EXPECT_EQ(ParseQuery("%61=x+y%20z"), (Parameters{{"a", "x y z"}}));
  EXPECT_EQ(ParseQuery("a=%zz&b=%"), (Parameters{{"a", "%zz"}, {"b", "%"}}));
  EXPECT_EQ(ParseQuery("a=%00b").at("a"), std::string("\0b", 2));
}

}  // namespace
}  // namespace swaplock
