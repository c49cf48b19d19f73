#include "common/context.h"

namespace swaplock {
namespace {

void Overlay(const Context& said, Context* out) {
  for (const auto& [name, value] : said.gauges) out->gauges[name] = value;
  for (const auto& [name, value] : said.facts) out->facts[name] = value;
}

}  // namespace

Context Applied(const Context& said, const Context& known) {
  if (said.complete) return said;
  Context out = known;
  for (auto& [name, delta] : out.counters) delta = 0;
  for (const auto& [name, delta] : said.counters) out.counters[name] = delta;
  Overlay(said, &out);
  return out;
}

Context Merged(const Context& first, const Context& second) {
  Context out = second;
  if (!second.complete) {
    out = first;
    out.counters = second.counters;
    Overlay(second, &out);
  }
  for (const auto& [name, delta] : first.counters) out.counters[name] += delta;
  return out;
}

}  // namespace swaplock
