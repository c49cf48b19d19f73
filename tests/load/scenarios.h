// The scenarios of docs/VERDICTS.md.
#ifndef SWAPLOCK_TESTS_LOAD_SCENARIOS_H_
#define SWAPLOCK_TESTS_LOAD_SCENARIOS_H_

#include <vector>

#include "tests/load/simulated_fleet.h"

namespace swaplock {

std::vector<Scenario> FalseAlarmScenarios();
std::vector<Scenario> PowerScenarios();

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SCENARIOS_H_
