// A table for terminals and pipes: columns as wide as their longest cell, two
// blanks between them, no lines. Control characters become '?', so that a
// hostile name cannot move the cursor. Not thread-safe.
#ifndef SWAPLOCK_COMMON_TEXT_TABLE_H_
#define SWAPLOCK_COMMON_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // Columns first, rows then. A column whose cells are all empty is left out.
  // Where the table is too wide, columns of the highest `drop` go first, from
  // the right; those of 0 stay.
  void AddColumn(absl::string_view title, Align align, int drop = 0);
  // As many cells as there are columns.
  void AddRow(const std::vector<std::string>& cells);

  bool Empty() const { return rows_.empty(); }

  // With the titles as first line; every line ends in a newline and begins with
  // `indent`. `max_width` is in characters; 0: as wide as it comes.
  std::string Render(absl::string_view indent = "", size_t max_width = 0) const;

 private:
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<int> drops_;
  std::vector<std::vector<std::string>> rows_;
};

// The text without control characters.
std::string Printable(absl::string_view text);

// Characters, not bytes: UTF-8 continuation bytes take no place.
size_t CharactersIn(absl::string_view text);

// The text as lines of at most `max_width` characters, unless that is 0, broken
// at blanks; the first begins with `first`, the others with `next`, both of
// which count. A word longer than a line stays whole.
std::string Wrapped(absl::string_view text, absl::string_view first,
                    absl::string_view next, size_t max_width);

// A duration with three significant digits and its unit: "0", "812ns",
// "1.50us", "12.0ms", "3.21s", "1234s".
std::string FormatNs(uint64_t ns);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_TEXT_TABLE_H_
