// A comparison as text: the finding first, what the runs were made under, then
// one table of all quantities, base and new side by side.
//
// A pure function of its arguments; lines end in a newline and have no blanks
// before it.
#ifndef SWAPLOCK_CLI_COMPARE_COMPARISON_TEXT_H_
#define SWAPLOCK_CLI_COMPARE_COMPARISON_TEXT_H_

#include <cstddef>
#include <string>

#include "cli/compare/comparison.h"

namespace swaplock {

struct TextForm {
  size_t width = 100;  // of lines; a table's may be longer if they must
  bool brief = false;  // about what the mails' tables have
};
// Plain text for a mail: ASCII.
inline constexpr TextForm kMailForm = {72, true};

std::string ComparisonText(const Comparison& comparison, const TextForm& form);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_COMPARE_COMPARISON_TEXT_H_
