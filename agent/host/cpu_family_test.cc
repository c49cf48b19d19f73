#include "agent/host/cpu_family.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(CpuFamilyTest, OfX86) {
  EXPECT_EQ(CpuFamilyOf("processor\t: 0\nvendor_id\t: GenuineIntel\n"
                        "cpu family\t: 6\nmodel\t\t: 207\n"
                        "model name\t: Intel(R) Xeon(R) Processor\n\n"
                        "processor\t: 1\nvendor_id\t: GenuineIntel\n"
                        "cpu family\t: 6\nmodel\t\t: 207\n"),
            "GenuineIntel 6 207");
}

TEST(CpuFamilyTest, OfAPhoneWithTwoKindsOfCores) {
  EXPECT_EQ(CpuFamilyOf("processor\t: 0\nCPU implementer\t: 0x41\n"
                        "CPU architecture: 8\nCPU part\t: 0xd05\n\n"
                        "processor\t: 7\nCPU implementer\t: 0x41\n"
                        "CPU part\t: 0xd0a\n"),
            "0x41 0xd05+0xd0a");
}

TEST(CpuFamilyTest, OfOthersByTheirOneLine) {
  EXPECT_EQ(CpuFamilyOf("processor\t: 0\ncpu\t\t: POWER9 (architected)\n"),
            "POWER9 (architected)");
  EXPECT_EQ(CpuFamilyOf(""), "");
  EXPECT_EQ(CpuFamilyOf("no colon\n:\n"), "");
}

TEST(CpuFamilyTest, ThisHostHasOne) {
  const std::string family = ReadCpuFamily();
  EXPECT_FALSE(family.empty());
  EXPECT_LE(family.size(), 64u);
}

}  // namespace
}  // namespace swaplock
