// The fleet as `swaplock top` shows it: cohorts with their cells, holds in
// progress, the longest holds, hosts, and what is measured where.
#ifndef SWAPLOCK_CLI_QUERY_FLEET_TEXT_H_
#define SWAPLOCK_CLI_QUERY_FLEET_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/time/time.h"
#include "proto/query.pb.h"

namespace swaplock {

struct FleetTextOptions {
  // Tables are at most so many characters wide where they can be; 0: no limit.
  size_t max_width = 0;
  // Say of each of the longest holds why it was long, not of the longest only.
  bool explain = false;
};

// `now` is what "seen 3s ago" counts from. Cells that break the schema are
// named in the text, not left out in silence.
std::string FleetText(const v1::Fleet& fleet, absl::Time now,
                      const FleetTextOptions& options = {});

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_FLEET_TEXT_H_
