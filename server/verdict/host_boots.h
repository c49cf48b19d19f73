// The boots of one host, in order.
#ifndef SWAPLOCK_SERVER_VERDICT_HOST_BOOTS_H_
#define SWAPLOCK_SERVER_VERDICT_HOST_BOOTS_H_

#include <set>
#include <string>
#include <vector>

#include "server/verdict/evidence.h"

namespace swaplock {

using HostBoots = std::vector<HostBoot>;  // of one host

// By day; of one day in the order that they have.
void SortByDay(HostBoots* boots);

// The build id, or the release where it is not known.
const std::string& BuildOf(const HostBoot& boot);

// "sysctl/vm/swappiness: 60 -> 100" of each fact that is another one.
std::set<std::string> ChangedFacts(const HostBoot& before,
                                   const HostBoot& after);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_HOST_BOOTS_H_
