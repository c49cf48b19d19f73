#include "server/verdict/outcome_events.h"

#include <algorithm>

namespace swaplock {

bool NeverWaits(LockModel model) {
  return model == LockModel::kPreemptOff || model == LockModel::kNone;
}

std::optional<EventsPer> EventsOf(VerdictOutcome outcome,
                                  const HostWindow& window,
                                  const OperationCounts& counts) {
  const auto operations = static_cast<double>(counts.operations);
  const auto if_waits = [&](uint64_t events,
                            double exposure) -> std::optional<EventsPer> {
    if (!counts.measured.waits.has_value()) return std::nullopt;
    return EventsPer{static_cast<double>(events), exposure};
  };
  switch (outcome) {
    case VerdictOutcome::kWaitsOver10ms:
      return if_waits(counts.waits_over_10ms, operations);
    case VerdictOutcome::kContended:
      return if_waits(counts.contended, operations);
    case VerdictOutcome::kWaitsOver1ms:
      return if_waits(counts.waits_over_1ms, operations);
    case VerdictOutcome::kWaitsOver100ms:
      return if_waits(counts.waits_over_100ms, operations);
    case VerdictOutcome::kWaitsOver10msPerHour:
      return if_waits(counts.waits_over_10ms, window.hours);
    case VerdictOutcome::kRunnable:
      if (NeverWaits(counts.measured.lock_model)) {
        return EventsPer{0, operations};  // 0 by construction
      }
      if (!counts.measured.parts) return std::nullopt;
      return EventsPer{
          static_cast<double>(counts.runnable_ns) / 1e6, operations,
          std::max(1.0, static_cast<double>(counts.longest_runnable_ns) / 1e6)};
    case VerdictOutcome::kSlowOperations:
      if (!counts.measured.latency) return std::nullopt;
      return EventsPer{static_cast<double>(counts.slow_operations),
                       static_cast<double>(counts.timed_operations)};
  }
  return std::nullopt;
}

}  // namespace swaplock
