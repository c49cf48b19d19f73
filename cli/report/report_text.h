// A report for people: per group of runs what they were measured on, tables of
// all numbers, and the longest holds with why they were long.
//
// Pure function; lines end in a newline and have no blanks before it.
#ifndef SWAPLOCK_CLI_REPORT_REPORT_TEXT_H_
#define SWAPLOCK_CLI_REPORT_REPORT_TEXT_H_

#include <cstddef>
#include <string>

#include "cli/report/recorded_run.h"

namespace swaplock {

struct ReportForm {
  size_t width = 100;  // of lines; those of one column may be longer
  // For a mail: ASCII, fewer quantities, and runs of one name side by side.
  bool mail = false;
  bool each = false;  // every run by itself instead of medians
  size_t holds = 3;   // how many of the longest holds
};
inline constexpr size_t kMailWidth = 72;

// Begins with the remarks.
std::string ReportText(const Recordings& recordings, const ReportForm& form);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_REPORT_TEXT_H_
