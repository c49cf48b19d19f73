#include "server/verdict/strata.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace swaplock {
namespace {

// `treated` and `controls` hosts with these keys.
void Add(int treated, int controls, int64_t wave,
         const std::vector<std::string>& keys,
         std::vector<StratifiedHost>* hosts) {
  for (int i = 0; i < treated + controls; ++i) {
    hosts->push_back({i < treated, wave, keys});
  }
}

TEST(StrataTest, DividesWhileBothArmsStayLargeEnough) {
  std::vector<StratifiedHost> hosts;
  Add(8, 8, 1, {"amd", "zram"}, &hosts);
  Add(9, 8, 1, {"intel", "zram"}, &hosts);
  Add(8, 8, 1, {"intel", "zswap"}, &hosts);
  const std::vector<Stratum> strata = MakeStrata(hosts, {}, nullptr);
  ASSERT_EQ(strata.size(), 3u);
  EXPECT_EQ(strata[0].name, "wave 1 / amd / zram");
  EXPECT_EQ(strata[1].name, "wave 1 / intel / zram");
  EXPECT_EQ(strata[1].treated.size(), 9u);
  EXPECT_EQ(strata[2].name, "wave 1 / intel / zswap");
}

TEST(StrataTest, GivesUpTheLeastKeyFirst) {
  std::vector<StratifiedHost> hosts;
  Add(8, 8, 1, {"amd", "zram"}, &hosts);
  Add(4, 4, 1, {"intel", "zram"}, &hosts);
  Add(4, 4, 1, {"intel", "zswap"}, &hosts);
  const std::vector<Stratum> strata = MakeStrata(hosts, {}, nullptr);
  ASSERT_EQ(strata.size(), 2u);
  EXPECT_EQ(strata[0].name, "wave 1 / amd / zram");
  EXPECT_EQ(strata[1].name, "wave 1 / intel");
  EXPECT_EQ(strata[1].treated.size(), 8u);
}

TEST(StrataTest, OneOddHostDoesNotCoarsenTheRest) {
  std::vector<StratifiedHost> hosts;
  Add(10, 10, 1, {"amd"}, &hosts);
  Add(10, 10, 1, {"intel"}, &hosts);
  Add(1, 1, 1, {"riscv"}, &hosts);
  const std::vector<Stratum> strata = MakeStrata(hosts, {}, nullptr);
  ASSERT_EQ(strata.size(), 3u);
  EXPECT_EQ(strata[2].name, "wave 1 / others");
  EXPECT_EQ(strata[2].treated.size(), 1u);
}

TEST(StrataTest, FirmKeysDivideDownToFewHosts) {
  std::vector<StratifiedHost> hosts;
  Add(24, 6, 1, {"amd", "x"}, &hosts);
  Add(6, 24, 1, {"intel", "x"}, &hosts);
  EXPECT_EQ(MakeStrata(hosts, {}, nullptr).size(), 1u);
  StrataLimits limits;
  limits.firm_keys = 1;
  EXPECT_EQ(MakeStrata(hosts, limits, nullptr).size(), 2u);
}

TEST(StrataTest, WavesAreNeverJoined) {
  std::vector<StratifiedHost> hosts;
  Add(3, 3, 1, {"amd"}, &hosts);
  Add(3, 3, 2, {"amd"}, &hosts);
  Add(2, 0, 3, {"amd"}, &hosts);
  size_t alone = 0;
  const std::vector<Stratum> strata = MakeStrata(hosts, {}, &alone);
  ASSERT_EQ(strata.size(), 2u);
  EXPECT_EQ(alone, 2u);
}

TEST(StrataTest, TercilesNameEqualValuesAlike) {
  const std::vector<std::string> names = Terciles({0, 0, 0, 0, 1, 2});
  EXPECT_EQ(names, (std::vector<std::string>{"middle", "middle", "middle",
                                             "middle", "high", "high"}));
  EXPECT_EQ(Terciles({3, 1, 2}),
            (std::vector<std::string>{"high", "low", "middle"}));
  EXPECT_TRUE(Terciles({}).empty());
}

}  // namespace
}  // namespace swaplock
