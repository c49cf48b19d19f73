// Where the quarantine is kept for good. The ledger has one.
//
// Thread-safe.
#ifndef SWAPLOCK_SERVER_ADMISSION_QUARANTINE_STORE_H_
#define SWAPLOCK_SERVER_ADMISSION_QUARANTINE_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/admission/quarantine.h"

namespace swaplock {

class QuarantineStore {
 public:
  virtual ~QuarantineStore() = default;

  // At most Quarantine::kMaxHosts, those that were set aside last; also those
  // whose time is over, for the next one is longer.
  virtual absl::StatusOr<std::vector<QuarantinedHost>> LoadQuarantine() = 0;
  // Durable when it returns, as is what follows.
  virtual absl::Status Keep(const QuarantinedHost& host) = 0;
  virtual absl::Status Forget(const std::string& host_id) = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_ADMISSION_QUARANTINE_STORE_H_
