// What a host is, as verdicts compare hosts: which of its properties a kernel
// does not change, and which may change along with it.
//
// Pure functions of what a host's windows said during one boot.
#ifndef SWAPLOCK_SERVER_LEDGER_BOOT_PROPERTIES_H_
#define SWAPLOCK_SERVER_LEDGER_BOOT_PROPERTIES_H_

#include <map>
#include <string>

#include "common/window.h"
#include "server/verdict/rollout.h"

namespace swaplock {

using Facts = std::map<std::string, std::string>;

// By the names of kStrataKeys, as far as known. Labels of the host give "tier"
// and any other of these names that nothing else gives, and go before what the
// agent says of "cpu_family".
StrataKeys StrataKeysOf(const Environment& environment, const Facts& facts);

// All facts but the kind of CPU, and those of the environment under "host/" and
// "label/".
Facts ChangeableFacts(const Environment& environment, const Facts& facts);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_LEDGER_BOOT_PROPERTIES_H_
