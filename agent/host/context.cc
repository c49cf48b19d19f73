#include "agent/host/context.h"

#include <iterator>
#include <utility>

namespace swaplock {
namespace {

// 10 minutes of windows of 10 s; a complete context has some 4 KB.
constexpr int kCompleteEvery = 60;

// Whether `before` has a name that `now` lacks.
template <typename Map>
bool AnyGone(const Map& before, const Map& now) {
  for (const auto& [name, value] : before) {
    if (now.count(name) == 0) return true;
  }
  return false;
}

// The entries of `now` that `before` does not have as they are.
template <typename Map>
Map Changed(const Map& before, const Map& now) {
  Map out;
  for (const auto& [name, value] : now) {
    const auto at = before.find(name);
    if (at == before.end() || at->second != value) out.emplace(name, value);
  }
  return out;
}

}  // namespace

ContextTracker::ContextTracker(std::string root)
    : root_(std::move(root)),
      lasting_facts_(ReadLastingFacts(root_)),
      counters_before_(ReadContext(root_).counters) {}

void ContextTracker::Restart() { Grown(ReadContext(root_).counters); }

Context ContextTracker::Take() {
  ContextReading reading = ReadContext(root_);
  Context now;
  now.complete = true;
  now.counters = Grown(reading.counters);
  now.gauges = std::move(reading.gauges);
  now.facts = std::move(reading.facts);
  now.facts.insert(lasting_facts_.begin(), lasting_facts_.end());
  const Context before = std::exchange(known_, now);
  if (windows_++ % kCompleteEvery == 0 ||
      AnyGone(before.counters, now.counters) ||
      AnyGone(before.gauges, now.gauges) || AnyGone(before.facts, now.facts)) {
    return now;
  }
  Context said;
  for (const auto& [name, delta] : now.counters) {
    // A new one is named once even if it stands still.
    if (delta > 0 || before.counters.count(name) == 0) {
      said.counters.emplace(name, delta);
    }
  }
  said.gauges = Changed(before.gauges, now.gauges);
  said.facts = Changed(before.facts, now.facts);
  return said;
}

std::map<std::string, uint64_t> ContextTracker::Grown(
    const std::map<std::pair<std::string, int>, uint64_t>& counters) {
  std::map<std::string, uint64_t> out;
  for (const auto& [key, value] : counters) {
    const auto [before, is_new] = counters_before_.emplace(key, value);
    uint64_t& delta = out[key.first];
    if (!is_new && value > before->second) delta += value - before->second;
    before->second = value;
  }
  // A CPU that is offline keeps its count; a device that is gone does not.
  for (auto it = counters_before_.begin(); it != counters_before_.end();) {
    it = out.count(it->first.first) == 0 ? counters_before_.erase(it)
                                         : std::next(it);
  }
  return out;
}

}  // namespace swaplock
