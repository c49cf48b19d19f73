// Lists of what a server knows: kernels, hosts, the longest holds, hosts that
// are set aside. One table, the same as CSV, or the server's own messages as
// JSON.
#ifndef SWAPLOCK_CLI_QUERY_FLEET_LIST_H_
#define SWAPLOCK_CLI_QUERY_FLEET_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/query.pb.h"

namespace swaplock {

enum class FleetListKind { kKernels, kHosts, kHolds, kQuarantine };

struct FleetList {
  std::vector<std::string> columns;
  std::vector<std::string> fields;  // the same, as CSV has them
  std::vector<bool> right;          // numbers, by column
  std::vector<std::vector<std::string>> rows;
  // v1::Fleet with nothing but what is listed.
  v1::Fleet message;
};

// Of one kernel and of one host only, where these are not empty. `now` is what
// "seen 3s ago" counts from. Times in tables have units; as CSV, `plain`, they
// are nanoseconds.
FleetList ListOf(const v1::Fleet& fleet, FleetListKind kind,
                 const std::string& kernel, const std::string& host,
                 absl::Time now, bool plain);

// `max_width` as for TextTable; "nothing yet" without rows.
std::string FleetListTable(const FleetList& list, size_t max_width);
// With a header, RFC 4180.
std::string FleetListCsv(const FleetList& list);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_FLEET_LIST_H_
