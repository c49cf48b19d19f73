#include "server/fleet/host_groups.h"

#include <gtest/gtest.h>

#include "common/testing.h"

namespace swaplock {
namespace {

HostRecord RecordOf(const Window& window) {
  HostRecord host;
  host.environment = window.environment;
  host.coverage = window.coverage;
  return host;
}

TEST(HostGroupsTest, NoHostsAreNoGroups) { EXPECT_TRUE(GroupsOf({}).empty()); }

TEST(HostGroupsTest, KernelAndProbesMakeAGroup) {
  Window refused = MakeWindow("c", 1);
  refused.coverage.probes[0].state = ProbeState::kRefused;
  Window counted = MakeWindow("d", 1);
  counted.coverage.probes[0].misses = 7;  // the same probe
  const std::vector<HostGroup> groups =
      GroupsOf({{"a", RecordOf(MakeWindow("a", 1))},
                {"b", RecordOf(MakeWindow("b", 1, "6.12.57"))},
                {"c", RecordOf(refused)},
                {"d", RecordOf(counted)}});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].hosts, 2u);
  EXPECT_EQ(groups[0].kernel_release, "6.18.15");
  EXPECT_EQ(groups[0].probes.size(), 2u);
  EXPECT_EQ(groups[1].hosts, 1u);
  EXPECT_EQ(groups[1].kernel_release, "6.12.57");
  EXPECT_EQ(groups[2].hosts, 1u);
  EXPECT_EQ(groups[2].probes[0].state, ProbeState::kRefused);
}

}  // namespace
}  // namespace swaplock
