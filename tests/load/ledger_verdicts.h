// What the engine says of windows that a ledger on disk has taken in.
#ifndef SWAPLOCK_TESTS_LOAD_LEDGER_VERDICTS_H_
#define SWAPLOCK_TESTS_LOAD_LEDGER_VERDICTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/window.h"
#include "server/ledger/ledger.h"
#include "server/verdict/judge_rollout.h"
#include "server/verdict/rollout.h"

namespace swaplock {

// Commits the windows, sorted by time, a batch for each day.
absl::Status CommitByDay(const std::vector<Window>& windows, Ledger* ledger);

// Commits the windows like this into a new SQLite ledger in
// `directory`, reads the rollout of `kernel_new` back from it as it stood on
// the last day, and judges it by the usual rules.
absl::StatusOr<RolloutVerdicts> VerdictsThroughLedger(
    const std::vector<Window>& windows, const std::string& directory,
    const std::string& kernel_base, const std::string& kernel_new);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_LEDGER_VERDICTS_H_
