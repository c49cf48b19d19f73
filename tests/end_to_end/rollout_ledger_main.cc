// Makes the ledger of a rollout that ended yesterday:
// `rollout_ledger DATA_DIR SCENARIOS` fills DATA_DIR with the hosts of the
// first scenario in SCENARIOS (tests/load/scenario.proto), so that a server
// started there finds the days before in its ledger and judges them at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/window.h"
#include "server/ledger/sqlite_ledger.h"
#include "tests/load/fleet_windows.h"
#include "tests/load/scenario_file.h"

namespace swaplock {
namespace {

constexpr int64_t kDayNs = 86'400'000'000'000;
constexpr uint64_t kSeed = 1;

int64_t EndDay(const Window& window) {
  return static_cast<int64_t>(window.end_unix_ns) / kDayNs;
}

void Move(int64_t days, Window* window) {
  window->end_unix_ns = static_cast<uint64_t>(
      static_cast<int64_t>(window->end_unix_ns) + days * kDayNs);
}

// Every host goes on as it ended until `last_day`.
void GoOnUntil(int64_t last_day, std::vector<Window>* windows) {
  std::map<std::string, Window> last;
  for (const Window& window : *windows) last[window.key.host_id] = window;
  for (auto& [host, window] : last) {
    while (EndDay(window) < last_day) {
      Move(1, &window);
      ++window.key.seq;
      window.start_boottime_ns += kDayNs;
      window.end_boottime_ns += kDayNs;
      windows->push_back(window);
    }
  }
  std::stable_sort(
      windows->begin(), windows->end(),
      [](const Window& a, const Window& b) { return EndDay(a) < EndDay(b); });
}

absl::Status CommitByDay(const std::vector<Window>& windows, Ledger* ledger) {
  for (size_t first = 0; first < windows.size();) {
    std::vector<Window> day;
    while (first < windows.size() &&
           (day.empty() || EndDay(windows[first]) == EndDay(day[0]))) {
      day.push_back(windows[first++]);
    }
    const absl::StatusOr<std::vector<Outcome>> outcomes = ledger->Commit(
        day, absl::FromUnixNanos(static_cast<int64_t>(day.back().end_unix_ns)) +
                 absl::Seconds(1));
    if (!outcomes.ok()) return outcomes.status();
  }
  return absl::OkStatus();
}

absl::Status MakeLedger(const char* directory, const char* scenarios_path) {
  const auto scenarios = ReadScenarios(scenarios_path);
  if (!scenarios.ok()) return scenarios.status();
  if (scenarios->empty()) return absl::NotFoundError("there is no scenario");
  std::vector<Window> windows = FleetWindows((*scenarios)[0], kSeed);
  if (windows.empty()) return absl::NotFoundError("it has no windows");
  // Two days ago the rollout had ended; yesterday says so once more.
  const int64_t today = absl::ToUnixSeconds(absl::Now()) / 86'400;
  const int64_t days = today - 2 - EndDay(windows.back());
  for (Window& window : windows) Move(days, &window);
  GoOnUntil(today - 1, &windows);
  auto ledger = SqliteLedger::Open(directory);
  if (!ledger.ok()) return ledger.status();
  return CommitByDay(windows, ledger->get());
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: rollout_ledger DATA_DIR SCENARIOS\n");
    return 2;
  }
  const absl::Status status = swaplock::MakeLedger(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "rollout_ledger: %s\n", status.ToString().c_str());
  return 1;
}
