// Verdicts as `swaplock verdicts` and `swaplock compare --server` show them: by
// kernel pair, the worst first, the worst one's sentence above its table.
#ifndef SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_
#define SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_

#include <cstddef>
#include <string>

#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

struct VerdictTextOptions {
  size_t max_width = 0;    // characters a line, where it can be; 0: no limit
  bool chosen = false;     // by some filter, so that others may be there
  bool self_test = false;  // its tables too, not only its sentence
};

std::string VerdictsText(const VerdictBook& book,
                         const VerdictTextOptions& options = {});

std::string ComparisonText(const PairComparison& comparison,
                           const VerdictTextOptions& options = {});

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_QUERY_VERDICT_TEXT_H_
