// Single holds that show what a verdict is about.
#ifndef SWAPLOCK_SERVER_FLEET_EXEMPLAR_HOLDS_H_
#define SWAPLOCK_SERVER_FLEET_EXEMPLAR_HOLDS_H_

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "server/fleet/fleet_state.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

inline constexpr size_t kExemplarsOfKernel = 5;

// The longest holds of the last 24 hours in the verdict's subsystem, at most
// kExemplarsOfKernel of each of its kernels: of the hosts that it names first,
// and first of the kernel that it finds worse. The operation is not asked for:
// a read waits behind a write's hold. The pointers are into `state`.
std::vector<const TopHold*> ExemplarHolds(const FleetState& state,
                                          absl::Time now,
                                          const VerdictRecord& record);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_EXEMPLAR_HOLDS_H_
