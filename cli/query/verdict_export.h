// Verdicts as lines of CSV, one each, with a line of names first. A number that
// does not exist is empty.
#ifndef SWAPLOCK_CLI_QUERY_VERDICT_EXPORT_H_
#define SWAPLOCK_CLI_QUERY_VERDICT_EXPORT_H_

#include <string>

#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

// Worst first, as in the table.
std::string VerdictsCsv(const VerdictBook& book);
// Without the columns of what is stored only.
std::string ComparisonCsv(const PairComparison& comparison);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_VERDICT_EXPORT_H_
