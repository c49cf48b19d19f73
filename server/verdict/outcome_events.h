// What an outcome counts in a window of a host, and per what.
#ifndef SWAPLOCK_SERVER_VERDICT_OUTCOME_EVENTS_H_
#define SWAPLOCK_SERVER_VERDICT_OUTCOME_EVENTS_H_

#include <optional>

#include "common/cell.h"
#include "server/verdict/log_rate.h"
#include "server/verdict/rollout.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

// Whether a holder under this model cannot be preempted, or there is no lock.
bool NeverWaits(LockModel model);

// `counts` are those of one operation in `window`. Nothing: not measured.
std::optional<EventsPer> EventsOf(VerdictOutcome outcome,
                                  const HostWindow& window,
                                  const OperationCounts& counts);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_OUTCOME_EVENTS_H_
