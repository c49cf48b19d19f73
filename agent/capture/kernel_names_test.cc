#include "agent/capture/kernel_names.h"

#include <gtest/gtest.h>

#include <sstream>

namespace swaplock {
namespace {

TEST(ResolveFunctionsTest, TakesTheNearestSymbolBelowWhateverTheOrder) {
  std::istringstream kallsyms(
      "ffffffffc0000100 t zram_submit_bio\t[zram]\n"
      "ffffffff81000000 T first\n"
      "ffffffff81000100 t second\n"
      "ffffffff81000180 D data_is_no_code\n"
      "ffffffff81000200 T third\n"
      "ffffffffa0000000 t bpf_prog_0123_zram_put\t[bpf]\n");
  const auto names = ResolveFunctions(
      kallsyms, {0xffffffff81000000, 0xffffffff810001ff, 0xffffffff81000200,
                 0xffffffffc0000133, 0x1000});
  ASSERT_EQ(names.size(), 4u);  // none for 0x1000
  EXPECT_EQ(names.at(0xffffffff81000000).name, "first");
  EXPECT_EQ(names.at(0xffffffff81000000).end, 0xffffffff81000100u);
  EXPECT_EQ(names.at(0xffffffff81000100).name, "second");
  EXPECT_EQ(names.at(0xffffffff81000100).end, 0xffffffff81000200u);
  EXPECT_EQ(names.at(0xffffffff81000200).name, "third");
  EXPECT_EQ(names.at(0xffffffff81000200).end, 0xffffffffa0000000u);
  EXPECT_EQ(names.at(0xffffffffc0000100).name, "zram_submit_bio [zram]");
  EXPECT_EQ(names.at(0xffffffffc0000100).end, ~uint64_t{0});
}

TEST(ResolveFunctionsTest, HiddenAddressesHaveNoNames) {
  std::istringstream kallsyms("0000000000000000 T first\n");
  EXPECT_TRUE(ResolveFunctions(kallsyms, {0xffffffff81000000}).empty());
}

TEST(KernelNamesTest, AnUnknownAddressIsPrintedAndZeroEndsAStack) {
  KernelNames names;
  EXPECT_EQ(names.Stack({0x10, 0, 0x20}), std::vector<std::string>{"0x10"});
}

TEST(KernelNamesTest, AsksForAnAddressOnce) {
  KernelNames names;
  std::vector<uint64_t> asked;
  names.SetAsk([&](uint64_t address) -> std::string {
    asked.push_back(address);
    if (address == 0x10) return "zram_submit_bio [zram]";
    return address == 0x20 ? "bpf_prog_0123_zram_put [bpf]" : "0x30";
  });
  for (int i = 0; i < 2; ++i) {
    names.LearnStacks({{0x10, 0x20}, {0x30, 0x10}});
    EXPECT_EQ(names.Stack({0x10, 0x20, 0x30}),
              (std::vector<std::string>{"zram_submit_bio [zram]", "0x30"}));
  }
  EXPECT_EQ(asked, (std::vector<uint64_t>{0x10, 0x20, 0x30}));
  // Modules may have come: the same address may be another function's.
  names.ForgetFunctions();
  names.LearnStacks({{0x10}});
  EXPECT_EQ(asked.size(), 4u);
}

TEST(KernelNamesTest, AnUnknownCgroupHasNoPath) {
  KernelNames names;
  EXPECT_EQ(names.Cgroup(0), "");
  EXPECT_EQ(names.Cgroup(~uint64_t{0}), "");
}

}  // namespace
}  // namespace swaplock
