#include "server/listen_address.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(ListenAddressTest, ReadsNumericAddresses) {
  const struct {
    const char* text;
    const char* canonical;
    bool loopback;
  } kCases[] = {
      {"127.0.0.1:7787", "127.0.0.1:7787", true},
      {"127.9.9.9:0", "127.9.9.9:0", true},
      {"localhost:1", "127.0.0.1:1", true},
      {"[::1]:0", "[::1]:0", true},
      {"0.0.0.0:65535", "0.0.0.0:65535", false},
      {"[::]:7787", "[::]:7787", false},
      {"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", false},
      {"10.0.0.1:1", "10.0.0.1:1", false},
  };
  for (const auto& test : kCases) {
    const auto address = ParseListenAddress(test.text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), test.canonical);
    EXPECT_EQ(address->IsLoopback(), test.loopback) << test.text;
  }
}

TEST(ListenAddressTest, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":", "7787", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:-1", "db1:7787", "[::1:7787", "::1:7787", "[]:1",
        "127.0.0.1:7787x"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

}  // namespace
}  // namespace swaplock
