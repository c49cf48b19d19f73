#include "server/verdict/matched_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace swaplock {
namespace {

using ::testing::HasSubstr;

TEST(MatchedPairsTest, TakesTheNearestFreeControlOfTheStratum) {
  // Hosts 0, 1 are upgraded; 2, 3, 4 are controls, 4 in another stratum.
  const std::vector<HostBefore> hosts = {{1.0, 0, 10, 1},
                                         {1.1, 0, 9, 2},
                                         {1.1, 0, 0, 3},
                                         {5.0, 0, 0, 4},
                                         {1.0, 0, 0, 5}};
  const std::vector<Stratum> strata = {{"a", {0, 1}, {2, 3}}, {"b", {}, {4}}};
  const std::vector<MatchedPair> pairs = MatchPairs(strata, hosts);
  ASSERT_EQ(pairs.size(), 2u);
  // Host 1 was upgraded first and chose first.
  EXPECT_EQ(pairs[0].treated, 1u);
  EXPECT_EQ(pairs[0].control, 2u);
  EXPECT_EQ(pairs[1].treated, 0u);
  EXPECT_EQ(pairs[1].control, 3u);
}

TEST(MatchedPairsTest, EveryControlIsUsedOnce) {
  std::vector<HostBefore> hosts(12);
  for (size_t i = 0; i < hosts.size(); ++i) {
    hosts[i] = {0, 0, static_cast<int64_t>(i), i};
  }
  const std::vector<Stratum> strata = {
      {"a", {0, 1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}}};
  const std::vector<MatchedPair> pairs = MatchPairs(strata, hosts);
  EXPECT_EQ(pairs.size(), 5u);
  std::vector<size_t> controls;
  controls.reserve(pairs.size());
  for (const MatchedPair& pair : pairs) controls.push_back(pair.control);
  EXPECT_THAT(controls, ::testing::UnorderedElementsAre(7, 8, 9, 10, 11));
  const std::vector<Holdback> advice = AdviseHoldback(strata, pairs);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].unpaired, 2u);
  EXPECT_EQ(advice[0].keep, 8u);
  EXPECT_THAT(advice[0].advice, HasSubstr("a: 2 upgraded hosts"));
}

TEST(MatchedPairsTest, NoAdviceWhenEnoughStayBack) {
  Stratum stratum;
  stratum.name = "a";
  for (size_t i = 0; i < 20; ++i) {
    (i < 10 ? stratum.treated : stratum.controls).push_back(i);
  }
  const std::vector<HostBefore> hosts(20);
  const std::vector<Holdback> advice =
      AdviseHoldback({stratum}, MatchPairs({stratum}, hosts));
  EXPECT_EQ(advice[0].advice, "");
}

}  // namespace
}  // namespace swaplock
