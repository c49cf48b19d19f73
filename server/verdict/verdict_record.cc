#include "server/verdict/verdict_record.h"

namespace swaplock {

absl::string_view Name(VerdictOutcome outcome) {
  switch (outcome) {
    case VerdictOutcome::kWaitsOver10ms:
      return "waits_over_10ms_per_million";
    case VerdictOutcome::kRunnable:
      return "runnable_hold_ms_per_million";
    case VerdictOutcome::kContended:
      return "contended_per_million";
    case VerdictOutcome::kWaitsOver1ms:
      return "waits_over_1ms_per_million";
    case VerdictOutcome::kWaitsOver100ms:
      return "waits_over_100ms_per_million";
    case VerdictOutcome::kWaitsOver10msPerHour:
      return "waits_over_10ms_per_host_hour";
    case VerdictOutcome::kSlowOperations:
      return "operations_over_10ms_per_million";
  }
  return "unspecified";
}

absl::string_view Phrase(VerdictOutcome outcome) {
  switch (outcome) {
    case VerdictOutcome::kWaitsOver10ms:
      return "waits over 10 ms per operation";
    case VerdictOutcome::kRunnable:
      return "time a holder was runnable off-CPU per operation";
    case VerdictOutcome::kContended:
      return "contended acquisitions per operation";
    case VerdictOutcome::kWaitsOver1ms:
      return "waits over 1 ms per operation";
    case VerdictOutcome::kWaitsOver100ms:
      return "waits over 100 ms per operation";
    case VerdictOutcome::kWaitsOver10msPerHour:
      return "waits over 10 ms per host and hour";
    case VerdictOutcome::kSlowOperations:
      return "operations over 10 ms per operation";
  }
  return "unspecified";
}

absl::string_view Name(Design design) {
  switch (design) {
    case Design::kBeforeAfterWithControls:
      return "before_after_with_controls";
    case Design::kParallelGroups:
      return "parallel_groups";
    case Design::kBeforeAfter:
      return "before_after";
    case Design::kChangePoint:
      return "change_point";
  }
  return "unspecified";
}

}  // namespace swaplock
