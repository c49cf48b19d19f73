// The tables of a verdict's evidence on a terminal.
#ifndef SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_
#define SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_

#include <cstddef>
#include <string>

#include "server/verdict/verdict_evidence.h"

namespace swaplock {

// The title, the rows and the notes. Where lines would be longer than
// `max_width` characters (0: no limit) the last column goes on below itself,
// or, if it is numbers, the first one gets a line of its own. Control
// characters are
// '?'.
std::string EvidenceText(const EvidenceTable& table, size_t max_width);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_
