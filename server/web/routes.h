// Which path shows which page.
#ifndef SWAPLOCK_SERVER_WEB_ROUTES_H_
#define SWAPLOCK_SERVER_WEB_ROUTES_H_

#include <functional>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "server/fleet/fleet.h"
#include "server/verdict/verdict_desk.h"
#include "server/web/http_server.h"

namespace swaplock {

// The pages for people and the files they refer to. `fleet` and `verdicts` must
// outlive them.
std::map<std::string, HttpServer::Page> PagesOf(
    const Fleet* fleet, const VerdictDesk* verdicts,
    std::function<absl::Time()> now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_ROUTES_H_
