#include "agent/capture/kernel_symbols.h"

#include <gtest/gtest.h>

#include <sstream>

namespace swaplock {
namespace {

TEST(KernelSymbolsTest, RefusesALineItCannotRead) {
  EXPECT_FALSE(ParseKernelSymbols("function only_a_name\n").ok());
  EXPECT_FALSE(ParseKernelSymbols("member a.b x struct c\n").ok());
  EXPECT_FALSE(ParseKernelSymbols("what is this\n").ok());
  EXPECT_TRUE(ParseKernelSymbols("# nothing\r\nbtf\r\n").ok());
}

TEST(KernelSymbolsTest, FunctionRangesEndAtTheNextSymbol) {
  std::istringstream kallsyms(
      "ffffffff81000000 T first\n"
      "ffffffff81000010 t zswap_store\n"
      "ffffffff81000030 T after\n"
      "ffffffff81000040 D zswap_load\n"
      "ffffffffc0000000 t zswap_decompress\t[other]\n");
  const auto ranges = FunctionRanges(kallsyms, {"zswap_store", "zswap_load"});
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].first, 0xffffffff81000010u);
  EXPECT_EQ(ranges[0].second, 0xffffffff81000030u);
}

TEST(KernelSymbolsTest, HiddenAddressesGiveNoRanges) {
  std::istringstream kallsyms(
      "0000000000000000 T zswap_store\n0000000000000000 T after\n");
  EXPECT_TRUE(FunctionRanges(kallsyms, {"zswap_store"}).empty());
}

}  // namespace
}  // namespace swaplock
