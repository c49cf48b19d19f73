// How much a ledger of many hosts takes, and what a look at its verdicts costs:
// a simulated rollout, a window a host and day for five weeks, goes through
// Commit into SQLite; then the pair is judged as the server does it, and again
// when nothing is new. Prints one row of a table of Markdown. Reported, never
// asserted.
//
// usage: ledger_benchmark HOSTS    in steps of 250
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/judge/evaluation.h"
#include "server/ledger/sqlite_ledger.h"
#include "server/replay/host_calendar.h"
#include "tests/load/fleet_windows.h"
#include "tests/load/ledger_verdicts.h"
#include "tests/load/simulated_fleet.h"

namespace swaplock {
namespace {

constexpr int kHostsAtOnce = 250;

// CPU time of this process, all threads.
double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Pair {
  std::string base;
  std::string newer;
  int64_t today = 0;
};

absl::StatusOr<uint64_t> Fill(int hosts, Ledger* ledger, double* cpu_seconds,
                              Pair* pair) {
  Scenario scenario;
  scenario.hosts_per_arm = kHostsAtOnce / 2;
  scenario.operations = 4;
  scenario.waves = 2;
  scenario.ratio = 1.5;
  uint64_t windows = 0;
  for (int done = 0; done < hosts; done += kHostsAtOnce) {
    std::vector<Window> part =
        FleetWindows(scenario, static_cast<uint64_t>(done) + 1);
    for (Window& window : part) {
      window.key.host_id = absl::StrCat(done, "-", window.key.host_id);
    }
    SortByTime(&part);
    pair->base = part.front().environment.kernel_release;
    pair->today = DayOf(part.back());
    for (const Window& window : part) {
      if (window.environment.kernel_release != pair->base) {
        pair->newer = window.environment.kernel_release;
      }
    }
    const double begun = CpuSeconds();
    if (absl::Status s = CommitByDay(part, ledger); !s.ok()) return s;
    *cpu_seconds += CpuSeconds() - begun;
    windows += part.size();
  }
  return windows;
}

absl::Status Measure(int hosts, const std::string& directory) {
  absl::StatusOr<std::unique_ptr<SqliteLedger>> ledger =
      SqliteLedger::Open(directory);
  if (!ledger.ok()) return ledger.status();
  Pair pair;
  double commit_seconds = 0;
  const absl::StatusOr<uint64_t> windows =
      Fill(hosts, ledger->get(), &commit_seconds, &pair);
  if (!windows.ok()) return windows.status();
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    bytes += file.file_size();
  }
  EvaluationInput input;
  input.pair = {pair.base, pair.newer};
  input.today = pair.today;
  double cpu[2];
  double wall[2];
  uint64_t flagged = 0;
  uint64_t hypotheses = 0;
  for (const bool over_time : {false, true}) {
    if (over_time) input.pair.newer = pair.base;
    absl::StatusOr<std::unique_ptr<EvidenceReader>> reader =
        (*ledger)->OpenEvidence();
    if (!reader.ok()) return reader.status();
    const double begun = CpuSeconds();
    const absl::Time started = absl::Now();
    const absl::StatusOr<Evaluated> out = Evaluate(reader->get(), input);
    if (!out.ok()) return out.status();
    cpu[over_time] = CpuSeconds() - begun;
    wall[over_time] = absl::ToDoubleSeconds(absl::Now() - started);
    if (over_time) continue;
    for (const VerdictRecord& record : out->records) {
      flagged += Flags(record.kind);
      hypotheses = record.family;
    }
  }
  absl::PrintF("| %d | %d | %.0f | %.0f | %d | %d | %.2f | %.2f | %.2f |\n",
               hosts, *windows,
               1e6 * commit_seconds / static_cast<double>(*windows),
               static_cast<double>(bytes) / hosts, hypotheses, flagged, cpu[0],
               wall[0], cpu[1]);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  int hosts = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &hosts) || hosts < kHostsAtOnce) {
    absl::FPrintF(stderr, "usage: ledger_benchmark HOSTS\n");
    return 2;
  }
  std::string directory =
      (std::filesystem::temp_directory_path() / "ledger-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 1;
  absl::PrintF(
      "| hosts | windows | CPU us per window | ledger bytes per host | "
      "hypotheses | flagged | verdicts: CPU s | wall s | over time: CPU s |\n"
      "|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  const absl::Status s = Measure(hosts, directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (s.ok()) return 0;
  absl::FPrintF(stderr, "%s\n", std::string(s.message()));
  return 1;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) { return swaplock::Main(argc, argv); }
