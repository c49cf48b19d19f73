// The tables of a verdict's evidence on a terminal.
#ifndef SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_
#define SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_

#include <cstddef>
#include <string>

#include "server/verdict/verdict_evidence.h"

namespace swaplock {

// The title, the rows and the notes. Where a line would be longer than
// `max_width` characters (0: no limit) its last column, if it is text, goes on
// below itself. Control characters are '?'.
std::string EvidenceText(const EvidenceTable& table, size_t max_width);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_EVIDENCE_TEXT_H_
