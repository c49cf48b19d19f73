#include "agent/delivery/server_choice.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

class ServerChoiceTest : public testing::Test {
 protected:
  bool Fail(bool window_may_be_there) {
    now_ += std::chrono::seconds(1);
    return choice_.Failed(now_, window_may_be_there);
  }

  ServerChoice choice_{{"a:1", "b:1"}, kPatience};
  ServerChoice::Instant now_;
};

TEST_F(ServerChoiceTest, TurnsToTheNextAfterThreeFailuresInARow) {
  EXPECT_EQ(choice_.server(), "a:1");
  EXPECT_FALSE(Fail(false));
  EXPECT_FALSE(Fail(false));
  choice_.Succeeded();
  EXPECT_FALSE(Fail(false));
  EXPECT_FALSE(Fail(false));
  EXPECT_TRUE(Fail(false));
  EXPECT_EQ(choice_.server(), "b:1");
  EXPECT_FALSE(Fail(false));
  EXPECT_FALSE(Fail(false));
  EXPECT_TRUE(Fail(false));
  EXPECT_EQ(choice_.server(), "a:1");
}

TEST_F(ServerChoiceTest, AWindowThatMayBeThereKeepsItForAWhile) {
  for (int i = 0; i < 120; ++i) ASSERT_FALSE(Fail(true)) << i;
  EXPECT_TRUE(Fail(true));
  EXPECT_EQ(choice_.server(), "b:1");
}

TEST_F(ServerChoiceTest, OneServerIsKeptForEver) {
  ServerChoice only({"a:1"}, kPatience);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(only.Failed(now_, false));
  EXPECT_EQ(only.server(), "a:1");
}

TEST_F(ServerChoiceTest, BeginsWithTheServerThatMayHaveAWindow) {
  choice_.BeginWith(ServerChoice::NumberOf("b:1"));
  EXPECT_EQ(choice_.server(), "b:1");
  choice_.BeginWith(ServerChoice::NumberOf("gone:1"));
  EXPECT_EQ(choice_.server(), "b:1");
  choice_.BeginWith(0);
  EXPECT_EQ(choice_.server(), "b:1");
}

}  // namespace
}  // namespace swaplock
