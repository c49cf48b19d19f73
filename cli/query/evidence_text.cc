#include "cli/query/evidence_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

constexpr absl::string_view kIndent = "  ";

std::string Blanks(size_t count) { return std::string(count, ' '); }

// What is left of a line for its last column; never nothing.
size_t LimitFor(size_t used, size_t max_width) {
  constexpr size_t kLeast = 24;
  return max_width == 0 ? 0 : std::max(max_width, used + kLeast);
}

}  // namespace

std::string EvidenceText(const EvidenceTable& table, size_t max_width) {
  std::vector<std::vector<std::string>> lines;
  // A list of facts needs no heads.
  const bool facts = table.columns.size() == 2 && !table.columns[1].number;
  if (!facts && !table.rows.empty()) {
    lines.emplace_back();
    for (const EvidenceColumn& column : table.columns) {
      lines.back().push_back(column.title);
    }
  }
  for (const std::vector<std::string>& row : table.rows) {
    lines.emplace_back();
    for (const std::string& cell : row) lines.back().push_back(Printable(cell));
    lines.back().resize(table.columns.size());
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], CharactersIn(line[i]));
    }
  }
  // Where numbers would be cut off, what they are of gets a line of its own.
  size_t total = kIndent.size();
  for (const size_t width : widths) total += width + 2;
  const bool apart = max_width > 0 && total - 2 > max_width &&
                     table.columns.size() > 2 && table.columns.back().number;
  std::string text = absl::StrCat(Printable(table.title), "\n");
  for (const auto& line : lines) {
    std::string begin(kIndent);
    if (apart) {
      absl::StrAppend(&text, Wrapped(line[0], kIndent, kIndent, max_width));
      absl::StrAppend(&begin, kIndent);
    }
    for (size_t i = apart ? 1 : 0; i + 1 < line.size(); ++i) {
      const std::string blanks = Blanks(widths[i] - CharactersIn(line[i]));
      absl::StrAppend(&begin, table.columns[i].number ? blanks : "", line[i],
                      table.columns[i].number ? "" : blanks, "  ");
    }
    const size_t used = CharactersIn(begin);
    const std::string& last = line.back();
    if (table.columns.back().number) {
      absl::StrAppend(&text, begin, Blanks(widths.back() - CharactersIn(last)),
                      last, "\n");
    } else if (last.empty()) {
      begin.erase(begin.find_last_not_of(' ') + 1);
      absl::StrAppend(&text, begin, "\n");
    } else {
      absl::StrAppend(
          &text, Wrapped(last, begin, Blanks(used), LimitFor(used, max_width)));
    }
  }
  for (const std::string& note : table.notes) {
    absl::StrAppend(&text,
                    Wrapped(Printable(note), kIndent, kIndent, max_width));
  }
  return text;
}

}  // namespace swaplock
