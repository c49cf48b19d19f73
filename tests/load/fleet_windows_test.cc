#include "tests/load/fleet_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "server/admission/admit.h"
#include "server/verdict/rollout_rules.h"
#include "tests/load/ledger_verdicts.h"
#include "tests/load/scenario_file.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

Scenario OneScenario() {
  const auto scenarios =
      ReadScenarios("tests/load/scenarios/rollout.textproto");
  EXPECT_TRUE(scenarios.ok()) << scenarios.status();
  return scenarios->front();
}

TEST(FleetWindowsTest, AnyServerTakesThem) {
  const std::vector<Window> windows = FleetWindows(OneScenario(), 1);
  ASSERT_EQ(windows.size(), 40u * (28 + 7));
  for (const Window& window : windows) {
    const auto refusal = Refuse(window, window.key.host_id);
    ASSERT_FALSE(refusal.has_value()) << refusal->sentence;
    const auto parsed = ParseWindow(Serialize(window));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
  }
}

TEST(FleetWindowsTest, TheLedgerGivesBackWhatWasDrawn) {
  const Scenario scenario = OneScenario();
  std::string directory = ::testing::TempDir() + "/fleet-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto verdicts = VerdictsThroughLedger(FleetWindows(scenario, 1),
                                              directory, "6.12.57", "6.18.15");
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  const RolloutVerdicts drawn =
      JudgeRollout(DrawFleet(scenario, 1).rollout, RolloutRules());
  ASSERT_EQ(verdicts->verdicts.size(), drawn.verdicts.size());
  for (size_t i = 0; i < drawn.verdicts.size(); ++i) {
    const VerdictRecord& stored = verdicts->verdicts[i];
    const VerdictRecord& truth = drawn.verdicts[i];
    EXPECT_EQ(stored.kind, truth.kind) << stored.sentence;
    EXPECT_EQ(stored.treated.hosts, 20u);
    EXPECT_EQ(stored.controls.hosts, 20u);
    EXPECT_EQ(stored.treated.operations_before,
              truth.treated.operations_before);
    EXPECT_EQ(stored.controls.operations_after,
              truth.controls.operations_after);
    // Sums of runnable time are cut to whole waits.
    EXPECT_NEAR(stored.treated.events_after / truth.treated.events_after, 1,
                1e-3);
    EXPECT_NEAR(stored.effect.ratio / truth.effect.ratio, 1, 0.15);
  }
  const VerdictRecord& waits = verdicts->verdicts[0];
  EXPECT_EQ(waits.kind, VerdictKind::kRegression) << waits.sentence;
  EXPECT_THAT(waits.sentence, HasSubstr("preempt: none -> lazy"));
}

}  // namespace
}  // namespace swaplock
