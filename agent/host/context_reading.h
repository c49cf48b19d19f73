// One look at the host's counters, gauges and settings: absolute values, read
// from /proc, /sys and debugfs. What cannot be read is absent, never 0.
// agent/context makes windows' context of two looks.
//
// Thread-safe: no state.
#ifndef SWAPLOCK_AGENT_HOST_CONTEXT_READING_H_
#define SWAPLOCK_AGENT_HOST_CONTEXT_READING_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace swaplock {

struct ContextReading {
  // By name and part. A counter of several parts is their sum; parts that are
  // not there now (a CPU that is offline) may come back where they were.
  std::map<std::pair<std::string, int>, uint64_t> counters;
  std::map<std::string, uint64_t> gauges;
  std::map<std::string, std::string> facts;
};

// `root` stands before every path: "" or a directory of a test.
ContextReading ReadContext(absl::string_view root = "");

// The facts that last as long as the kernel runs: its configuration, its CPU.
std::map<std::string, std::string> ReadLastingFacts(
    absl::string_view root = "");

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_CONTEXT_READING_H_
