// Whether a window that kept to the schema may come in: it speaks for its own
// host, its strings are harmless, its lists short and its numbers possible.
//
// Every string that later reaches a metric, a page or a log passes here first.
#ifndef SWAPLOCK_SERVER_ADMISSION_ADMIT_H_
#define SWAPLOCK_SERVER_ADMISSION_ADMIT_H_

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/window.h"

namespace swaplock {

// Why a window was not taken; the first six are for good. Each is a value of
// the metric's label, so there are no others.
enum class RejectReason {
  kMalformed,    // breaks the schema
  kWrongHost,    // speaks for another host than its stream's
  kBadKernel,    // a kernel release that is none
  kBadText,      // too long, or not common/plain_text
  kTooMany,      // more cells, holds, probes ... than a window may have
  kImplausible,  // a number above 2^50 or than time allows, parts above their
                 // whole, a sum that its buckets cannot have
  kTooFast,      // more of its host than admission.h takes: again later
  kBusy,         // the writer's queue is full: again later
  kStorage,      // the ledger could not commit: again later
};
inline constexpr RejectReason kRejectReasons[] = {
    RejectReason::kMalformed, RejectReason::kWrongHost,
    RejectReason::kBadKernel, RejectReason::kBadText,
    RejectReason::kTooMany,   RejectReason::kImplausible,
    RejectReason::kTooFast,   RejectReason::kBusy,
    RejectReason::kStorage,
};
static_assert(std::size(kRejectReasons) ==
              static_cast<size_t>(RejectReason::kStorage) + 1);
// "malformed", "wrong_host" ...
absl::string_view Name(RejectReason reason);

struct Refusal {
  RejectReason reason;
  std::string sentence;  // names the field
};

// Nothing when the window may come in on the stream of `host_id`.
std::optional<Refusal> Refuse(const Window& window, absl::string_view host_id);

// Nothing when a stream may speak for this host.
std::optional<Refusal> RefuseHost(absl::string_view host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_ADMIT_H_
