// The context of each window: what the host's counters grew by since the window
// before, and which gauges and facts changed; see common/context.
//
// Costs 0.3 to 0.9 ms of CPU per window on a host of two CPUs, most of it the
// kernel's, and 0.4 KB where little changes. One thread.
#ifndef SWAPLOCK_AGENT_HOST_CONTEXT_H_
#define SWAPLOCK_AGENT_HOST_CONTEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "agent/host/context_reading.h"
#include "common/context.h"

namespace swaplock {

class ContextTracker {
 public:
  // An epoch begins: counters count from here. `root` stands before every
  // path: "" or a directory of a test.
  explicit ContextTracker(std::string root = "");

  // A window begins here, and not where the one before ended: what counters
  // grew by in between is left out.
  void Restart();

  // What is to be said of the window that ends now.
  Context Take();

 private:
  // By name, what the counters grew by since they were here last.
  std::map<std::string, uint64_t> Grown(
      const std::map<std::pair<std::string, int>, uint64_t>& counters);

  const std::string root_;
  const std::map<std::string, std::string> lasting_facts_;
  std::map<std::pair<std::string, int>, uint64_t> counters_before_;
  Context known_;  // what a reader of the epoch's windows knows
  int windows_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_CONTEXT_H_
