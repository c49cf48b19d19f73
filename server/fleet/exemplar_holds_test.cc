#include "server/fleet/exemplar_holds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

using ::testing::ElementsAre;

const absl::Time kNow = absl::FromUnixNanos(kTestUnixNs);

TopHold HoldOf(const std::string& host, const std::string& kernel,
               uint64_t hold_ns, absl::Duration ago = absl::Hours(1)) {
  TopHold top;
  top.host_id = host;
  top.kernel_release = kernel;
  top.key.subsystem = Subsystem::kZram;
  top.hold.hold_ns = hold_ns;
  top.end_unix_ns = static_cast<uint64_t>(absl::ToUnixNanos(kNow - ago));
  return top;
}

VerdictRecord Verdict(VerdictKind kind) {
  VerdictRecord record;
  record.kernel_base = "base";
  record.kernel_new = "new";
  record.subsystem = Subsystem::kZram;
  record.kind = kind;
  record.top_hosts.resize(1);
  record.top_hosts[0].host_id = "c";
  return record;
}

std::vector<std::string> Found(const FleetState& state,
                               VerdictKind kind = VerdictKind::kRegression) {
  std::vector<std::string> out;
  for (const TopHold* top : ExemplarHolds(state, kNow, Verdict(kind))) {
    out.push_back(absl::StrCat(top->host_id, " ", top->hold.hold_ns));
  }
  return out;
}

TEST(ExemplarHoldsTest, OfTheVerdictsKernelsTheHostsItNamesFirst) {
  FleetState state;
  state.top_holds = {HoldOf("a", "new", 900), HoldOf("b", "base", 800),
                     HoldOf("c", "new", 700), HoldOf("d", "other", 600),
                     HoldOf("e", "new", 500, absl::Hours(25))};
  state.top_holds.push_back(HoldOf("f", "new", 400));
  state.top_holds.back().key.subsystem = Subsystem::kZswap;
  EXPECT_THAT(Found(state), ElementsAre("c 700", "a 900", "b 800"));
  EXPECT_THAT(Found(state, VerdictKind::kImprovement),
              ElementsAre("b 800", "c 700", "a 900"));
}

TEST(ExemplarHoldsTest, AtMostFiveOfAKernel) {
  FleetState state;
  for (uint64_t i = 0; i < 8; ++i) {
    state.top_holds.push_back(HoldOf("a", "new", 100 - i));
  }
  EXPECT_EQ(Found(state).size(), 5);
}

}  // namespace
}  // namespace swaplock
