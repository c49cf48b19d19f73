// Prints how long the verdicts on one kernel pair take, in CPU time on one
// core: 10,000 hosts, 24 hypotheses. Reported, never asserted.
#include <ctime>

#include "absl/strings/str_format.h"
#include "server/verdict/judge_rollout.h"
#include "server/verdict/rollout_rules.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {
namespace {

void Measure(const char* name, double ratio, int waves) {
  Scenario scenario;
  scenario.hosts_per_arm = 5000;
  scenario.operations = 4;
  scenario.waves = waves;
  scenario.ratio = ratio;
  const SimulatedFleet fleet = DrawFleet(scenario, 1);
  const std::clock_t start = std::clock();
  const RolloutVerdicts verdicts = JudgeRollout(fleet.rollout, RolloutRules());
  const double seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  absl::PrintF(
      "%-28s %6d hosts %3d hypotheses %2d waves  %6.2f s of CPU time\n", name,
      fleet.rollout.hosts.size(), verdicts.verdicts[0].family, waves, seconds);
}

}  // namespace
}  // namespace swaplock

int main() {
  swaplock::Measure("nothing changed", 1, 1);
  swaplock::Measure("nothing changed", 1, 8);
  swaplock::Measure("everything 1.5 times worse", 1.5, 1);
  swaplock::Measure("everything 1.5 times worse", 1.5, 8);
  return 0;
}
