#include "tests/load/scenarios.h"

#include <utility>

namespace swaplock {
namespace {

template <typename Change>
Scenario With(const char* name, const Change& change) {
  Scenario scenario;
  scenario.name = name;
  change(&scenario);
  return scenario;
}

Scenario Power(const char* name, double ratio, int hosts, int operations) {
  return With(name, [&](Scenario* s) {
    s->ratio = ratio;
    s->hosts_per_arm = hosts;
    s->waves = hosts < 40 ? 1 : 2;
    s->calendar_sd = 0.4;
    s->operations = operations;
  });
}

// The noise that hosts are planned for: 0.8 t3, hardly any of counting.
Scenario ManyEvents(Scenario scenario) {
  scenario.mean_events = 1000;
  scenario.burst_shape = 1000;
  scenario.noise = 0.8;
  scenario.worst_rate = 0.02;
  return scenario;
}

}  // namespace

std::vector<Scenario> FalseAlarmScenarios() {
  return {
      With("A/A, 20 hosts an arm",
           [](Scenario* s) {
             s->hosts_per_arm = 20;
             s->waves = 1;
           }),
      With("A/A, 60", [](Scenario*) {}),
      With("A/A, 130", [](Scenario* s) { s->hosts_per_arm = 130; }),
      With("A/A, 60, all 24 hypotheses",
           [](Scenario* s) { s->operations = 4; }),
      With("A/A, 60, one event a host",
           [](Scenario* s) { s->mean_events = 1; }),
      With("Simpson: 80 % and 20 % class B",
           [](Scenario* s) {
             s->class_b_treated = 0.8;
             s->class_b_controls = 0.2;
           }),
      With("operations x1.5, one event a host",
           [](Scenario* s) {
             s->exposure = 1.5;
             s->mean_events = 1;
           }),
      With("operations x5.6, one event a host",
           [](Scenario* s) {
             s->exposure = 5.6;
             s->mean_events = 1;
           }),
      With("operations x5.6", [](Scenario* s) { s->exposure = 5.6; }),
      With("uptime: fresh boots x0.4",
           [](Scenario* s) {
             s->fresh_boot = 0.4;
             s->controls_not_rebooted = 0.5;
           }),
      With("calendar shock, sd 0.4", [](Scenario* s) { s->calendar_sd = 0.4; }),
      With("one host x1000", [](Scenario* s) { s->crazy_host = 1000; }),
      With("attrition: worst fifth vanishes",
           [](Scenario* s) { s->attrition = 0.2; }),
  };
}

std::vector<Scenario> PowerScenarios() {
  return {
      Power("ratio 1.5, 130 hosts an arm", 1.5, 130, 1),
      Power("ratio 2, 50", 2, 50, 1),
      Power("ratio 3, 20", 3, 20, 1),
      Power("ratio 1/2, 50", 0.5, 50, 1),
      Power("ratio 2, 50, all 24 hypotheses", 2, 50, 4),
      Power("ratio 2, 130, all 24 hypotheses", 2, 130, 4),
      ManyEvents(Power("many events: ratio 1.5, 130", 1.5, 130, 1)),
      ManyEvents(Power("many events: ratio 2, 50", 2, 50, 1)),
      ManyEvents(Power("many events: ratio 3, 20", 3, 20, 1)),
  };
}

}  // namespace swaplock
