#include "common/text_table.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace swaplock {

std::string Printable(absl::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return printable;
}

size_t CharactersIn(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string Wrapped(absl::string_view text, absl::string_view first,
                    absl::string_view next, size_t max_width) {
  std::string out;
  std::string line(first);
  size_t words = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (max_width > 0 && words > 0 &&
        CharactersIn(line) + 1 + CharactersIn(word) > max_width) {
      absl::StrAppend(&out, line, "\n");
      line = std::string(next);
      words = 0;
    }
    absl::StrAppend(&line, words > 0 ? " " : "", word);
    ++words;
  }
  return absl::StrCat(out, line, "\n");
}

std::string FormatNs(uint64_t ns) {
  if (ns == 0) return "0";
  if (ns < 1000) return absl::StrCat(ns, "ns");
  constexpr absl::string_view kUnits[] = {"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1e3;
  size_t unit = 0;
  // 999.5 would be printed as 1000 of the smaller unit.
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1e3;
    ++unit;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f%s", digits, value, kUnits[unit]);
}

void TextTable::AddColumn(absl::string_view title, Align align, int drop) {
  titles_.emplace_back(title);
  aligns_.push_back(align);
  drops_.push_back(drop);
}

void TextTable::AddRow(const std::vector<std::string>& cells) {
  std::vector<std::string> row;
  row.reserve(titles_.size());
  for (const std::string& cell : cells) row.push_back(Printable(cell));
  row.resize(titles_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::Render(absl::string_view indent,
                              size_t max_width) const {
  std::vector<size_t> widths(titles_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CharactersIn(row[i]));
    }
  }
  const auto total_width = [&] {
    size_t total = indent.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      total += std::max(widths[i], CharactersIn(titles_[i])) + 2;
    }
    return total - std::min<size_t>(total, 2);  // none after the last column
  };
  while (max_width > 0 && total_width() > max_width) {
    size_t drop = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0 || drops_[i] == 0) continue;
      if (drop == widths.size() || drops_[i] >= drops_[drop]) drop = i;
    }
    if (drop == widths.size()) break;  // all that is left is needed
    widths[drop] = 0;
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(indent);
    bool first = true;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (widths[i] == 0) continue;
      const size_t width = std::max(widths[i], CharactersIn(titles_[i]));
      const std::string blanks(width - CharactersIn(cells[i]), ' ');
      if (!first) line.append("  ");
      first = false;
      absl::StrAppend(&line, aligns_[i] == Align::kRight ? blanks : "",
                      cells[i], aligns_[i] == Align::kLeft ? blanks : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  };
  add_line(titles_);
  for (const auto& row : rows_) add_line(row);
  return text;
}

}  // namespace swaplock
