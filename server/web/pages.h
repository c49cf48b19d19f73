// The server's pages for people: plain HTML with tables, and charts where
// scripts run. No request leaves this server.
//
// Each takes a snapshot and the time, and is a pure function of them. Text of
// hosts is escaped: it is text whatever it contains.
#ifndef SWAPLOCK_SERVER_WEB_PAGES_H_
#define SWAPLOCK_SERVER_WEB_PAGES_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "server/fleet/fleet.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

using PageQuery = std::map<std::string, std::string>;

// "/": the fleet at a glance.
std::string FleetPage(const FleetSnapshot& snapshot, const VerdictBook& book,
                      absl::Time now);

// "/kernels": kernels side by side for one operation, ?op=zram%20read; without
// it the one that there was most of.
std::string KernelsPage(const FleetSnapshot& snapshot, absl::Time now,
                        const PageQuery& query);

// "/holds": the longest of the day, and those in progress.
std::string HoldsPage(const FleetSnapshot& snapshot, absl::Time now);

// "/hold": one of them, as HoldLink() names it. Empty when it is not there.
std::string HoldPage(const FleetSnapshot& snapshot, absl::Time now,
                     const PageQuery& query);

// "/coverage": what is measured, where and how, and what is not.
std::string CoveragePage(const FleetSnapshot& snapshot, absl::Time now);

// "/pipeline": what became of windows, and which hosts are set aside.
std::string PipelinePage(const FleetSnapshot& snapshot, absl::Time now);

// "/host", ?id=: machine, context, holds and probes. Empty when there is none.
std::string HostPage(const FleetSnapshot& snapshot, absl::Time now,
                     const std::string& host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_PAGES_H_
