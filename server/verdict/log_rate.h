// A host's rates on the log scale, for hosts with few events or none.
#ifndef SWAPLOCK_SERVER_VERDICT_LOG_RATE_H_
#define SWAPLOCK_SERVER_VERDICT_LOG_RATE_H_

#include "server/verdict/seeded_random.h"

namespace swaplock {

// Events over exposure, in one window. Both at least 0; exposure above 0 where
// it is used.
struct EventsPer {
  double events = 0;
  double exposure = 0;
  // Where `events` is a sum and not a count: what comes in one piece, about.
  double piece = 1;
};

// Keeps each event with probability `share` (0..1), and that share of the
// exposure.
void Thin(SeededRandom* random, double share, EventsPer* window);

// ln of the ratio of a host's rates, after over before. Half an event is added
// to either window in proportion to its exposure, so that a host without events
// has a change of exactly 0. Half an event to each would make it
// ln(exposure before / exposure after): throughput would read as a rate.
double ChangeOfLogRate(const EventsPer& before, const EventsPer& after);

// ln of one host's rate when there is no other window: half an event in the
// mean exposure of all hosts compared is added, so that hosts without events
// tie.
double LogRate(const EventsPer& window, double mean_exposure);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_LOG_RATE_H_
