// Verdicts as `swaplock verdicts` shows them: a table, and each one's sentence.
#ifndef SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_
#define SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_

#include <string>

#include "proto/query.pb.h"

namespace swaplock {

std::string VerdictsText(const v1::VerdictList& verdicts);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_
