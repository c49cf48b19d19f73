// The pages of verdicts: the list at "/verdicts" and one with all that it rests
// on at "/verdict". Plain HTML without scripts; nothing is changed from here.
#ifndef SWAPLOCK_SERVER_WEB_VERDICT_PAGES_H_
#define SWAPLOCK_SERVER_WEB_VERDICT_PAGES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/fleet/fleet.h"
#include "server/verdict/verdict_book.h"

namespace swaplock {

// "/verdict?id=17"
std::string VerdictLink(uint64_t id);

// The list alone, as a part of another page.
std::string VerdictsHtml(const VerdictBook& book);

std::string RenderVerdictsPage(const VerdictBook& book, absl::Time now);

// `id` as the query of the address gave it. Empty when there is no such
// verdict.
std::string RenderVerdictPage(const VerdictBook& book,
                              const FleetSnapshot& snapshot,
                              absl::string_view id, absl::Time now);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_VERDICT_PAGES_H_
