// Prints how often verdicts, and what people would use instead, raise a false
// alarm and find a true change, on simulated fleets: the table of
// docs/VERDICTS.md. Takes some minutes for 1,000 trials of each scenario.
//
// usage: verdict_simulation [TRIALS] [SEED] [NAME]     1000 and 1 without
//
// NAME: only scenarios whose name contains it.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "server/verdict/distributions.h"
#include "tests/load/scenarios.h"
#include "tests/load/verdict_trials.h"

namespace swaplock {
namespace {

std::string Share(uint64_t count, uint64_t trials) {
  const Interval interval = BinomialInterval(count, trials, 0.95);
  return absl::StrFormat(
      "%.3f (%.3f-%.3f)",
      static_cast<double>(count) / static_cast<double>(trials), interval.lower,
      interval.upper);
}

void PrintTable(const char* title, const std::vector<Scenario>& scenarios,
                const std::string& part, uint64_t trials, uint64_t seed) {
  absl::PrintF(
      "| %s | spread | fixed look, 5 %% | e-process, every look | verdict | "
      "refused | Mann-Whitney over time | Welch on means | ratio alert | "
      "E-divisive |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
      title);
  for (const Scenario& scenario : scenarios) {
    if (!absl::StrContains(scenario.name, part)) continue;
    const Trials t = TryOut(scenario, trials, seed, true);
    const auto share = [&](uint64_t count) { return Share(count, trials); };
    absl::PrintF("| %s | %.2f | %s | %s | %s | %s | %s | %s | %s | %s |\n",
                 scenario.name, t.spread, share(t.fixed_look),
                 share(t.every_look), share(t.verdict), share(t.data_quality),
                 share(t.mann_whitney), share(t.welch), share(t.ratio_alert),
                 share(t.e_divisive));
    std::fflush(stdout);
  }
  absl::PrintF("\n");
}

int Main(int argc, char** argv) {
  uint64_t trials = 1000;
  uint64_t seed = 1;
  if (argc > 4 || (argc > 1 && !absl::SimpleAtoi(argv[1], &trials)) ||
      (argc > 2 && !absl::SimpleAtoi(argv[2], &seed)) || trials == 0) {
    absl::FPrintF(stderr,
                  "usage: verdict_simulation [TRIALS] [SEED] [NAME], the first "
                  "two positive numbers\n");
    return 2;
  }
  absl::PrintF("%d trials a scenario, seed %d\n\n", trials, seed);
  const std::string part = argc > 3 ? argv[3] : "";
  PrintTable("false alarms", FalseAlarmScenarios(), part, trials, seed);
  PrintTable("power", PowerScenarios(), part, trials, seed);
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) { return swaplock::Main(argc, argv); }
