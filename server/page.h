// The page at "/": hosts, operations, longest holds, what is not measured, and
// verdicts, as plain HTML without scripts or requests to anywhere else.
#ifndef SWAPLOCK_SERVER_PAGE_H_
#define SWAPLOCK_SERVER_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/fleet.h"

namespace swaplock {

std::string RenderPage(const FleetSnapshot& snapshot, absl::Time now);

// `text` with & < > " ' as character references.
std::string EscapeHtml(absl::string_view text);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_PAGE_H_
