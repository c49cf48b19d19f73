// Prints what the lock catalogue knows of the running kernel, for recorded
// lists (testdata/) and for looking: `kernel_symbols` the symbols,
// `kernel_symbols --plan` what the agent would attach and why not more.
#include <cstring>
#include <iostream>

#include "agent/capture/kernel_symbols.h"
#include "agent/capture/lock_catalog.h"
#include "agent/capture/probe_trial.h"

int main(int argc, char** argv) {
  const swaplock::KernelSymbols symbols = swaplock::ReadKernelSymbols();
  if (argc == 1) {
    std::cout << swaplock::FormatKernelSymbols(symbols);
    return 0;
  }
  if (argc != 2 || strcmp(argv[1], "--plan") != 0) {
    std::cerr << "usage: kernel_symbols [--plan]\n";
    return 2;
  }
  swaplock::ProbeTrial trial(symbols);
  std::cout << swaplock::FormatPlan(swaplock::MakePlan(
      symbols, [&](swaplock::ProbeKind kind, const std::string& target) {
        return trial.Try(kind, target);
      }));
  return 0;
}
