// The fleet as `swaplock top` shows it: cohorts with their cells, the longest
// holds, hosts, and what is measured where.
#ifndef SWAPLOCK_CLI_FLEET_TEXT_H_
#define SWAPLOCK_CLI_FLEET_TEXT_H_

#include <string>

#include "absl/time/time.h"
#include "proto/query.pb.h"

namespace swaplock {

// `now` is what "seen 3s ago" counts from. Cells that break the schema are
// named in the text, not left out in silence.
// Tables are at most `max_width` characters wide where they can be; 0: no
// limit.
std::string FleetText(const v1::Fleet& fleet, absl::Time now,
                      size_t max_width = 0);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_FLEET_TEXT_H_
