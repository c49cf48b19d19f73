// How often the engine, and what people would use instead, flag simulated
// fleets of one scenario.
#ifndef SWAPLOCK_TESTS_LOAD_VERDICT_TRIALS_H_
#define SWAPLOCK_TESTS_LOAD_VERDICT_TRIALS_H_

#include <cstdint>

#include "tests/load/simulated_fleet.h"

namespace swaplock {

// Counts of trials. Where the truth is no effect, any flag counts; where there
// is one, only flags in its direction.
struct Trials {
  uint64_t trials = 0;
  // The fixed look's p for waits over 10 ms of the first operation, at 5 %. No
  // effect: two-sided against a ratio of 1. Effect: one-sided against 1.10.
  uint64_t fixed_look = 0;
  // The same with every host's true change instead of counts, by the normal
  // distribution: what no test of the counts can much exceed. Only where there
  // is an effect.
  uint64_t oracle = 0;
  // Its e-process, looked at after every pair: ever above 20 (worse; for an
  // improvement, better).
  uint64_t every_look = 0;
  // Verdicts of the engine as configured: any REGRESSION, IMPROVEMENT or MIXED
  // of the whole family (no effect); of the first operation's waits over 10 ms
  // (effect).
  uint64_t verdict = 0;
  uint64_t alarm = 0;         // of these, sequential alarms by e-BH
  uint64_t data_quality = 0;  // refused for the quality of the data
  uint64_t mann_whitney = 0;
  uint64_t welch = 0;
  uint64_t ratio_alert = 0;
  uint64_t e_divisive = 0;
  double spread = 0;  // mean robust deviation of hosts' log ratios
};

// `practice`: try what people would use instead, too.
Trials TryOut(const Scenario& scenario, uint64_t trials, uint64_t seed,
              bool practice);

}  // namespace swaplock

#endif  // SWAPLOCK_TESTS_LOAD_VERDICT_TRIALS_H_
