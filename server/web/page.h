// The page at "/": operations, locks, longest holds and those in progress,
// hosts, what is not measured, and verdicts; and the page of one host at
// "/host". Plain HTML without scripts or requests to anywhere else.
#ifndef SWAPLOCK_SERVER_WEB_PAGE_H_
#define SWAPLOCK_SERVER_WEB_PAGE_H_

#include <string>

#include "absl/time/time.h"
#include "server/fleet/fleet.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

std::string RenderPage(const FleetSnapshot& snapshot, const VerdictBook& book,
                       absl::Time now);

// What is known of one host: its machine and kernel, its context, its holds and
// its probes. Empty when there is no such host.
std::string RenderHostPage(const FleetSnapshot& snapshot, absl::Time now,
                           const std::string& host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_PAGE_H_
