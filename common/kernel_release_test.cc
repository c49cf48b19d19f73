#include "common/kernel_release.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace swaplock {
namespace {

TEST(KernelReleaseTest, OrdersRealReleases) {
  const std::vector<std::string> ascending = {
      "",
      "custom",
      "4.19.0-27-amd64",
      "5.10.0-8-amd64",
      "5.10.0-28-amd64",
      "6.1.0-9-amd64",
      "6.1.0-10-amd64",
      "6.1.158",
      "6.9.7",
      "6.12.9-amd64",
      "6.12.48+deb13-amd64",
      "6.12.57+deb13-amd64",
      "6.18-rc3",
      "6.18.0-0.rc4.20251102git.fc44.x86_64",
      "6.18-rc10-amd64",
      "6.18~pre",
      "6.18",
      "6.18.0-amd64",
      "6.18.5",
      "6.18.15",
      "6.18.15-lazy",
      "7.3.0",
      "10.0",
      "99999999999999999999999.1",
  };
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      const int order = CompareKernelReleases(ascending[i], ascending[j]);
      const std::string pair = ascending[i] + " and " + ascending[j];
      const int expected = (i > j) - (i < j);
      EXPECT_EQ((order > 0) - (order < 0), expected) << pair;
    }
  }
}

TEST(KernelReleaseTest, DifferentSpellingsAreNeverEqual) {
  EXPECT_NE(CompareKernelReleases("6.18", "6.18.0"), 0);
  EXPECT_NE(CompareKernelReleases("6.1.0-09", "6.1.0-9"), 0);
  EXPECT_EQ(CompareKernelReleases("6.18", "6.18.0") < 0,
            CompareKernelReleases("6.18.0", "6.18") > 0);
}

TEST(KernelReleaseTest, ArchitectureNamesAreNoCandidates) {
  EXPECT_GT(CompareKernelReleases("6.18.0-marc1", "6.18.0"), 0);
}

}  // namespace
}  // namespace swaplock
