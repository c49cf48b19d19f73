// The engine on simulated fleets, in a few repetitions: the seed is fixed, so
// that these either hold always or never. docs/VERDICTS.md has the long run.
#include "tests/load/verdict_trials.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/verdict/rollout.h"
#include "tests/load/scenario_file.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {
namespace {

constexpr uint64_t kTrials = 40;

std::vector<Scenario> Scenarios(const std::string& name) {
  const auto scenarios =
      ReadScenarios("tests/load/scenarios/" + name + ".textproto");
  EXPECT_TRUE(scenarios.ok()) << scenarios.status();
  return scenarios.value_or(std::vector<Scenario>());
}

TEST(VerdictTrialsTest, TheSameSeedGivesTheSameFleet) {
  Scenario scenario;
  const SimulatedFleet a = DrawFleet(scenario, 3);
  const SimulatedFleet b = DrawFleet(scenario, 3);
  ASSERT_EQ(a.rollout.hosts.size(), 120u);
  for (size_t i = 0; i < a.rollout.hosts.size(); ++i) {
    const auto& x = a.rollout.hosts[i].after->operations;
    const auto& y = b.rollout.hosts[i].after->operations;
    EXPECT_EQ(x.begin()->second.waits_over_10ms,
              y.begin()->second.waits_over_10ms);
  }
  EXPECT_NE(a.series[0].events, DrawFleet(scenario, 4).series[0].events);
}

TEST(VerdictTrialsTest, FewFalseAlarmsInAnyScenario) {
  for (const Scenario& scenario : Scenarios("false_alarms")) {
    if (scenario.hosts_per_arm > 60 || scenario.operations > 1) continue;
    const Trials trials = TryOut(scenario, kTrials, 2026, false);
    // Nominal 5 % is 2; 8 would be one chance in 1,500.
    EXPECT_LE(trials.fixed_look, 8u) << scenario.name;
    EXPECT_LE(trials.every_look, 8u) << scenario.name;
    EXPECT_LE(trials.verdict, 4u) << scenario.name;
    if (scenario.attrition > 0 || scenario.workload_changed > 0 ||
        scenario.lost_events > 0) {
      EXPECT_EQ(trials.data_quality, kTrials) << scenario.name;
      EXPECT_EQ(trials.verdict, 0u) << scenario.name;
    }
  }
}

TEST(VerdictTrialsTest, AThreefoldRateIsFoundWithFewHosts) {
  for (const Scenario& scenario : Scenarios("power")) {
    if (scenario.ratio != 3) continue;
    const Trials trials = TryOut(scenario, kTrials, 2026, false);
    EXPECT_GE(trials.fixed_look, kTrials * 3 / 4);
    EXPECT_GE(trials.verdict, kTrials / 3);
  }
}

}  // namespace
}  // namespace swaplock
