#include "server/web/hold_link.h"

#include "absl/strings/str_cat.h"
#include "server/web/html.h"

namespace swaplock {

std::string HoldLink(const TopHold& top) {
  return absl::StrCat("/hold?host=", EscapeQuery(top.host_id),
                      "&window=", top.end_unix_ns, "&pid=", top.hold.pid,
                      "&ns=", top.hold.hold_ns);
}

std::string HoldId(const TopHold& top) {
  return absl::StrCat(top.end_unix_ns, "-", top.hold.pid, "-",
                      top.hold.hold_ns);
}

}  // namespace swaplock
