// Scenarios as files: scenario.proto in protobuf's text format.
#ifndef SWAPLOCK_TESTS_LOAD_SCENARIO_FILE_H_
#define SWAPLOCK_TESTS_LOAD_SCENARIO_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {

// Fails with InvalidArgument and a sentence that says where and what is wrong:
// of the syntax, with line and column; of a scenario, by name and field.
absl::StatusOr<std::vector<Scenario>> ParseScenarios(absl::string_view text);

// Fails with NotFound as well. Messages begin with the path.
absl::StatusOr<std::vector<Scenario>> ReadScenarios(const std::string& path);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_SCENARIO_FILE_H_
