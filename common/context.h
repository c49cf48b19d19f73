// What else went on on the host in a window: counters, gauges and facts by
// name, of which only what changed travels. proto/window.proto has the meaning
// of each part and the names; the fields here mean the same.
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_COMMON_CONTEXT_H_
#define SWAPLOCK_COMMON_CONTEXT_H_

#include <cstdint>
#include <map>
#include <string>

namespace swaplock {

struct Context {
  bool complete = false;
  std::map<std::string, uint64_t> counters;
  std::map<std::string, uint64_t> gauges;
  std::map<std::string, std::string> facts;

  bool Empty() const {
    return counters.empty() && gauges.empty() && facts.empty();
  }
  bool operator==(const Context& other) const {
    return complete == other.complete && counters == other.counters &&
           gauges == other.gauges && facts == other.facts;
  }
};

// What the window that `said` this measured, given what is `known` from the
// epoch's window before it: every counter by its delta (0 where it did not
// move), every gauge and fact. It is complete if `said` or `known` is; one that
// is not may lack names. An empty `known` begins an epoch.
Context Applied(const Context& said, const Context& known);

// What two windows in a row said, as one window says it: applying it to what
// was known before gives what applying one after the other gives, with the
// deltas of both.
Context Merged(const Context& first, const Context& second);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_CONTEXT_H_
