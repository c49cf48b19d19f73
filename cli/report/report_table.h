// Tables of a report: a row per quantity, a column per operation, lock or
// variant.
//
// Pure functions of their arguments.
#ifndef SWAPLOCK_CLI_REPORT_REPORT_TABLE_H_
#define SWAPLOCK_CLI_REPORT_REPORT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cli/report/run_statistics.h"

namespace swaplock {

struct TableForm {
  // Of lines, in characters; a table that is wider is cut into several, each
  // with at least one column. 0: no limit.
  size_t width = 0;
  bool brief = false;  // the quantities that a mail would have
};

// One column for each of `subjects`, which are all of one kind. A quantity that
// none of them has has no row, unless its absence must be seen.
std::string SubjectTable(const std::vector<GroupNumbers>& subjects,
                         const TableForm& form);

// One column for each of `titles`, and below a heading for each subject its
// quantities; columns[i] has the numbers of titles[i].
std::string VariantTable(const std::vector<std::string>& titles,
                         const std::vector<std::vector<GroupNumbers>>& columns,
                         const TableForm& form);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_REPORT_TABLE_H_
