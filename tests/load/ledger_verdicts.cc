#include "tests/load/ledger_verdicts.h"

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/replay/host_calendar.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/rollout_windows.h"

namespace swaplock {

absl::Status CommitByDay(const std::vector<Window>& windows, Ledger* ledger) {
  for (size_t first = 0; first < windows.size();) {
    size_t end = first;
    while (end < windows.size() &&
           DayOf(windows[end]) == DayOf(windows[first])) {
      ++end;
    }
    const std::vector<Window> day(
        windows.begin() + static_cast<std::ptrdiff_t>(first),
        windows.begin() + static_cast<std::ptrdiff_t>(end));
    const auto now = absl::FromUnixNanos(
        static_cast<int64_t>(day.back().end_unix_ns) + 1'000'000'000);
    const absl::StatusOr<std::vector<Outcome>> outcomes =
        ledger->Commit(day, now);
    if (!outcomes.ok()) return outcomes.status();
    first = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<RolloutVerdicts> VerdictsThroughLedger(
    const std::vector<Window>& windows, const std::string& directory,
    const std::string& kernel_base, const std::string& kernel_new) {
  absl::StatusOr<std::unique_ptr<SqliteLedger>> ledger =
      SqliteLedger::Open(directory);
  if (!ledger.ok()) return ledger.status();
  if (absl::Status s = CommitByDay(windows, ledger->get()); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<EvidenceReader>> evidence =
      (*ledger)->OpenEvidence();
  if (!evidence.ok()) return evidence.status();
  absl::StatusOr<Rollout> rollout =
      RolloutOf(evidence->get(), kernel_base, kernel_new, DayOf(windows.back()),
                RolloutWindows());
  if (!rollout.ok()) return rollout.status();
  return JudgeRollout(*rollout, RolloutRules());
}

}  // namespace swaplock
