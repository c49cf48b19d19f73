// Prints how often verdicts, and what people would use instead, raise a false
// alarm and find a true change, on simulated fleets: the tables of
// docs/VERDICTS.md. 1,000 trials of one scenario take about a minute.
//
// usage: verdict_simulation [--trials N] [--seed N] [--only TEXT] FILE...
//
// FILE: scenarios (tests/load/scenarios/). --only: those whose name has TEXT.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "server/verdict/distributions.h"
#include "tests/load/scenario_file.h"
#include "tests/load/verdict_trials.h"

ABSL_FLAG(uint64_t, trials, 1000, "fleets drawn of each scenario");
ABSL_FLAG(uint64_t, seed, 1, "of the fleets");
ABSL_FLAG(std::string, only, "", "scenarios whose name contains this");

namespace swaplock {
namespace {

std::string Share(uint64_t count, uint64_t trials) {
  const Interval interval = BinomialInterval(count, trials, 0.95);
  return absl::StrFormat(
      "%.3f (%.3f-%.3f)",
      static_cast<double>(count) / static_cast<double>(trials), interval.lower,
      interval.upper);
}

void PrintTable(const std::vector<Scenario>& scenarios) {
  const uint64_t trials = absl::GetFlag(FLAGS_trials);
  absl::PrintF(
      "| scenario | spread | fixed look, 5 %% | oracle | e-process, every look "
      "| verdict | refused | Mann-Whitney over time | Welch on means | ratio "
      "alert | E-divisive |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const Scenario& scenario : scenarios) {
    if (!absl::StrContains(scenario.name, absl::GetFlag(FLAGS_only))) continue;
    const Trials t = TryOut(scenario, trials, absl::GetFlag(FLAGS_seed), true);
    const auto share = [&](uint64_t count) { return Share(count, trials); };
    absl::PrintF("| %s | %.2f | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                 scenario.name, t.spread, share(t.fixed_look),
                 scenario.ratio == 1 ? "" : share(t.oracle),
                 share(t.every_look), share(t.verdict), share(t.data_quality),
                 share(t.mann_whitney), share(t.welch), share(t.ratio_alert),
                 share(t.e_divisive));
    std::fflush(stdout);
  }
  absl::PrintF("\n");
}

int Main(const std::vector<char*>& files) {
  if (files.empty() || absl::GetFlag(FLAGS_trials) == 0) {
    absl::FPrintF(stderr,
                  "usage: verdict_simulation [--trials N] [--seed N] [--only "
                  "TEXT] FILE...; N at least 1\n");
    return 2;
  }
  std::vector<std::vector<Scenario>> tables;
  for (const char* const path : files) {
    absl::StatusOr<std::vector<Scenario>> scenarios = ReadScenarios(path);
    if (!scenarios.ok()) {
      absl::FPrintF(stderr, "verdict_simulation: %s\n",
                    scenarios.status().message());
      return 78;
    }
    tables.push_back(*std::move(scenarios));
  }
  absl::PrintF("%d trials a scenario, seed %d\n\n", absl::GetFlag(FLAGS_trials),
               absl::GetFlag(FLAGS_seed));
  for (const std::vector<Scenario>& table : tables) PrintTable(table);
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "verdict_simulation [--trials N] [--seed N] [--only TEXT] FILE...");
  std::vector<char*> files = absl::ParseCommandLine(argc, argv);
  files.erase(files.begin());
  return swaplock::Main(files);
}
