#include "agent/identity.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

// printf 'swaplock host id' |
//   openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
TEST(HostIdTest, IsAHashThatNeverChanges) {
  EXPECT_EQ(HostIdOf("0123456789abcdef0123456789abcdef"),
            "af9920e0251f094a6c7cfda16f54f3ac");
}

TEST(HostIdTest, ComesFromTheMachineIdAndDoesNotTellIt) {
  const std::string path = absl::StrCat(testing::TempDir(), "/machine-id");
  std::ofstream(path) << "0123456789abcdef0123456789abcdef\n";
  EXPECT_EQ(LocalHostId(path), HostIdOf("0123456789abcdef0123456789abcdef"));
}

TEST(HostIdTest, FallsBackToTheHostNameWhileThereIsNoMachineId) {
  const std::string path = absl::StrCat(testing::TempDir(), "/uninitialized");
  const std::string without = LocalHostId(path);
  EXPECT_EQ(without.size(), 32u);
  std::ofstream(path) << "uninitialized\n";
  EXPECT_EQ(LocalHostId(path), without);
}

TEST(BootIdTest, ParsesWhatTheKernelPrints) {
  const absl::StatusOr<std::string> id =
      ParseBootId("00010203-0405-0607-0809-0a0b0c0d0eff\n");
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(*id, std::string("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\xff", 16));
  EXPECT_FALSE(ParseBootId("").ok());
  EXPECT_FALSE(ParseBootId("00010203-0405-0607-0809-0a0b0c0d0exx").ok());
  EXPECT_TRUE(LocalBootId().ok());
}

TEST(EpochTest, IsTheBoottimeClockInMilliseconds) {
  Clock clock;
  clock.boottime_ns = [] { return uint64_t{12'345'678'901}; };
  EXPECT_EQ(EpochOf(clock), 12'345u);
}

}  // namespace
}  // namespace swaplock
