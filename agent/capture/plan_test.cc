#include "agent/capture/plan.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

Plan HookedPlan() {
  Plan plan;
  plan.attachments = {
      {"zram_put", ProbeKind::kFentry, "zcomp_stream_put"},
      {"zswap_release_store", ProbeKind::kFexit, "zs_obj_write"},
      {"switch_hook", ProbeKind::kTracepoint, "sched_switch"}};
  for (const Attachment& a : plan.attachments) {
    Probe probe;
    probe.name = a.Probe();
    probe.state = ProbeState::kAttached;
    plan.probes.push_back(probe);
  }
  plan.zram_hold = Tier::kExact;
  plan.zswap_hold = Tier::kBracket;
  plan.zswap_latency = Tier::kExact;
  return plan;
}

TEST(PlanTest, AProbeIsNamedByItsKindAndItsTarget) {
  EXPECT_EQ(HookedPlan().attachments[1].Probe(), "fexit/zs_obj_write");
}

TEST(PlanTest, NothingOfZswapsIsAttachedWhileItIsOff) {
  const Plan off = WithoutZswap(HookedPlan());
  EXPECT_EQ(off.zram_hold, Tier::kExact);
  EXPECT_EQ(off.zswap_hold, Tier::kUnspecified);
  EXPECT_EQ(off.zswap_latency, Tier::kUnspecified);
  EXPECT_TRUE(off.Attaches("zram_put"));
  EXPECT_TRUE(off.Attaches("switch_hook"));
  EXPECT_FALSE(off.Attaches("zswap_release_store"));
  ASSERT_EQ(off.probes.size(), 3u);
  EXPECT_EQ(off.probes[0].state, ProbeState::kAttached);
  EXPECT_EQ(off.probes[1].state, ProbeState::kNotNeeded);
  EXPECT_EQ(off.probes[1].reason, "zswap is off");
  ASSERT_EQ(off.not_measured.size(), 1u);
}

// The owner probe has no hooks that only zswap needs.
TEST(PlanTest, TracepointsStayWhileZswapIsOff) {
  Plan plan = HookedPlan();
  plan.zswap_hold = Tier::kOwnerProbe;
  plan.attachments.erase(plan.attachments.begin() + 1);
  EXPECT_EQ(FormatPlan(WithoutZswap(plan)), FormatPlan(plan));
}

}  // namespace
}  // namespace swaplock
