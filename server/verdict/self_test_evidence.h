// What the engine found out about itself, and where hosts should be kept back,
// as tables of plain text.
#ifndef SWAPLOCK_SERVER_VERDICT_SELF_TEST_EVIDENCE_H_
#define SWAPLOCK_SERVER_VERDICT_SELF_TEST_EVIDENCE_H_

#include <optional>
#include <string>

#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_evidence.h"

namespace swaplock {

// Whether a self-test was made at all.
bool WasMade(const SelfTestReport& report);

// False alarms and power by operation and outcome. Nothing without any.
std::optional<EvidenceTable> SelfTestTable(const SelfTestReport& report);
// The same in one sentence, or why there is none.
std::string SelfTestSentence(const SelfTestReport& report);

// Nothing where no stratum has hosts.
std::optional<EvidenceTable> HoldbackTable(const JudgedPair& pair);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_SELF_TEST_EVIDENCE_H_
