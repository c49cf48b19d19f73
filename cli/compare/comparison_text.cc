#include "cli/compare/comparison_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cli/report/printed_number.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

// Titles of columns that are longer leave no room for numbers.
constexpr size_t kLongestTitle = 20;
// Of what changed beside the kernel, the short form lists so many.
constexpr size_t kBriefChanges = 8;
// Repetitions of so many are printed in thousands.
constexpr double kThousands = 10'000;

std::string Ascii(absl::string_view text) {
  std::string out = Printable(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return out;
}

// Stands for a blank at which no line ends.
constexpr char kGlue = '\x1f';

// A paragraph: a number and its unit stay on one line.
std::string Paragraph(std::string text, absl::string_view first,
                      absl::string_view next, size_t width) {
  for (const std::string& unit :
       std::vector<std::string>{" ns", " us", " ms", " s"}) {
    for (size_t at = text.find(unit); at != std::string::npos;
         at = text.find(unit, at + 1)) {
      const size_t end = at + unit.size();
      const bool number =
          at > 0 &&
          (absl::ascii_isdigit(static_cast<unsigned char>(text[at - 1])) ||
           text[at - 1] == ')');
      const bool whole =
          end == text.size() ||
          !absl::ascii_isalnum(static_cast<unsigned char>(text[end]));
      if (number && whole) text[at] = kGlue;
    }
  }
  std::string lines = Wrapped(text, first, next, width);
  std::replace(lines.begin(), lines.end(), kGlue, ' ');
  return lines;
}

// "22.3 (21.6-22.6) ms", "1.15 (1.10-1.20) M": of one run as it is printed
// everywhere.
std::string CellText(const std::vector<double>& values,
                     const Outcome& outcome) {
  const std::optional<Spread> spread = SpreadOf(values);
  if (!spread.has_value()) return "-";
  const bool counted =
      outcome.unit == Unit::kCount || outcome.unit == Unit::kPerSecond;
  if (spread->min < spread->max && counted && spread->median >= kThousands) {
    const double scale = spread->median >= 100 * kThousands ? 1e6 : 1e3;
    const auto print = [scale](double value) {
      return Significant(value / scale);
    };
    return absl::StrCat(print(spread->median), " (", print(spread->min), "-",
                        print(spread->max), scale == 1e6 ? ") M" : ") k");
  }
  // A range that rounds away says nothing.
  std::string median = Printed(spread->median, outcome.unit);
  if (Printed(spread->min, outcome.unit) == median &&
      Printed(spread->max, outcome.unit) == median) {
    return median;
  }
  return Printed(*spread, outcome.unit);
}

// The cell of a side that has so many runs: "115 us [2]", without its range, if
// only two have the number.
std::string SideText(const std::vector<double>& values, size_t runs,
                     const Outcome& outcome) {
  const std::optional<Spread> spread = SpreadOf(values);
  if (!spread.has_value() || values.size() == runs) {
    return CellText(values, outcome);
  }
  return absl::StrCat(Printed(spread->median, outcome.unit), " [",
                      values.size(), "]");
}

// Whether some numbers are of fewer runs than there are.
bool SomeLack(const Comparison& comparison) {
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const ComparedOutcome& row : subject.outcomes) {
      if ((!row.base.empty() && row.base.size() < comparison.base_runs) ||
          (!row.newer.empty() && row.newer.size() < comparison.new_runs)) {
        return true;
      }
    }
  }
  return false;
}

std::string Change(const ComparedOutcome& row) {
  const std::optional<Spread> from = SpreadOf(row.base);
  const std::optional<Spread> to = SpreadOf(row.newer);
  if (!from.has_value() || !to.has_value()) return "";
  const std::string change = PrintedChange(from->median, to->median);
  // Which way it went has been rounded away.
  return change == "+0.0%" || change == "-0.0%" ? "0.0%" : change;
}

std::string P(const ComparedOutcome& row) {
  if (!row.judgement.p.has_value()) return row.judged ? "*" : "";
  // The blank keeps the digits of all rows below each other.
  return absl::StrFormat("%s%.2g%s", row.judgement.exact ? "" : "~",
                         *row.judgement.p, row.judged ? "*" : " ");
}

bool AllZero(const ComparedOutcome& row) {
  const auto zero = [](double value) { return value == 0; };
  return std::all_of(row.base.begin(), row.base.end(), zero) &&
         std::all_of(row.newer.begin(), row.newer.end(), zero);
}

bool IsPrinted(const ComparedOutcome& row, const TextForm& form) {
  if (row.judged) return true;
  if (form.brief && !row.outcome.brief) return false;
  return !AllZero(row) || row.outcome.metric == "latency_over_10ms";
}

// A line of the table, or (without cells) one above a subject's lines.
struct Line {
  std::string title;
  std::vector<std::string> cells;
};

bool IsTested(const Comparison& comparison) {
  return comparison.finding != Finding::kNotEnoughRuns &&
         comparison.finding != Finding::kNotComparable;
}

std::vector<Line> LinesOf(const Comparison& comparison, const TextForm& form) {
  std::vector<Line> lines;
  std::string base = comparison.base_title;
  std::string newer = comparison.new_title;
  if (std::max(base.size(), newer.size()) > kLongestTitle) {
    base = "base";
    newer = "new";
  }
  const bool tested = IsTested(comparison);
  lines.push_back(
      {"", {Ascii(base), Ascii(newer), "change", tested ? "p " : ""}});
  for (const ComparedSubject& subject : comparison.subjects) {
    std::vector<Line> rows;
    for (const ComparedOutcome& row : subject.outcomes) {
      if (!IsPrinted(row, form)) continue;
      rows.push_back({absl::StrCat(" ", row.outcome.title),
                      {SideText(row.base, comparison.base_runs, row.outcome),
                       SideText(row.newer, comparison.new_runs, row.outcome),
                       Change(row), tested ? P(row) : ""}});
    }
    if (rows.empty()) continue;
    lines.push_back({absl::StrCat(Ascii(SubjectName(subject.subject)), " (",
                                  Ascii(subject.detail), ")"),
                     {}});
    lines.insert(lines.end(), rows.begin(), rows.end());
  }
  return lines;
}

// "86.1 (44-19,990) us" for "86.1 (44.0-19,990) us".
std::string Shortened(const std::string& cell) {
  const size_t begin = cell.find('(');
  const size_t end = cell.find(')');
  if (begin == std::string::npos || end == std::string::npos) return cell;
  std::vector<std::string> ends = absl::StrSplit(
      absl::string_view(cell).substr(begin + 1, end - begin - 1), '-');
  for (std::string& one : ends) {
    double value = 0;
    if (absl::SimpleAtod(one, &value) && value >= 10) {
      one = absl::StrFormat("%.0f", value);
    }
  }
  return absl::StrCat(cell.substr(0, begin + 1), absl::StrJoin(ends, "-"),
                      cell.substr(end));
}

// Of the title's column and those of the cells.
std::vector<size_t> Widths(const std::vector<Line>& lines) {
  std::vector<size_t> widths(5, 0);
  for (const Line& line : lines) {
    if (line.cells.empty()) continue;
    widths[0] = std::max(widths[0], line.title.size());
    for (size_t i = 0; i < line.cells.size(); ++i) {
      widths[i + 1] = std::max(widths[i + 1], line.cells[i].size());
    }
  }
  return widths;
}

// How wide lines are whose columns lie `gap` apart.
size_t Width(const std::vector<size_t>& widths, size_t gap) {
  size_t width = 0;
  for (const size_t one : widths) width += one > 0 ? one + gap : 0;
  return width - std::min(width, gap);
}

std::string Table(std::vector<Line> lines, size_t width) {
  std::vector<size_t> widths = Widths(lines);
  if (Width(widths, 1) > width) {
    for (Line& line : lines) {
      for (std::string& cell : line.cells) cell = Shortened(cell);
    }
    widths = Widths(lines);
  }
  const size_t gap = Width(widths, 2) <= width ? 2 : 1;
  std::string text;
  for (const Line& line : lines) {
    std::string out = line.title;
    if (!line.cells.empty()) out.resize(widths[0], ' ');
    for (size_t i = 0; i < line.cells.size(); ++i) {
      if (widths[i + 1] == 0) continue;
      out.append(gap + widths[i + 1] - line.cells[i].size(), ' ');
      out.append(line.cells[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, out, "\n");
  }
  return text;
}

const Setting* Find(const std::vector<Setting>& settings,
                    absl::string_view name) {
  for (const Setting& setting : settings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string Or(const std::string& value) {
  return value.empty() ? "not known" : value;
}

std::string BothSides(const Setting& setting) {
  if (setting.Same()) return setting.base;
  return absl::StrCat(Or(setting.base), " -> ", Or(setting.newer));
}

// What is known of the machine, in one line: "x86_64, 2 CPUs, 1.0 GiB, zram
// zstd, vm.page-cluster 0".
std::string Machine(const Grounds& grounds) {
  std::vector<std::string> parts;
  const auto add = [&](absl::string_view name, absl::string_view before,
                       absl::string_view after) {
    const Setting* setting = Find(grounds.settings, name);
    if (setting == nullptr) return;
    // Kernels keep back a little more or less of the same memory.
    const std::string value = setting->base.empty() || setting->newer.empty()
                                  ? absl::StrCat(setting->base, setting->newer)
                                  : BothSides(*setting);
    if (!value.empty()) parts.push_back(absl::StrCat(before, value, after));
  };
  add("architecture", "", "");
  add("CPUs", "", " CPUs");
  add("memory", "", "");
  add("codec", "", "");
  add("swap back end", "swap on ", "");
  add("vm.page-cluster", "vm.page-cluster ", "");
  return absl::StrJoin(parts, ", ");
}

std::string Settings(const std::vector<Setting>& settings, size_t most) {
  std::vector<std::string> parts;
  for (const Setting& setting : settings) {
    if (parts.size() == most) break;
    parts.push_back(absl::StrCat(setting.name, " ", BothSides(setting)));
  }
  if (settings.size() > parts.size()) {
    parts.push_back(absl::StrCat(settings.size() - parts.size(), " more"));
  }
  return absl::StrJoin(parts, ", ");
}

std::string RunsText(size_t runs, uint64_t ns) {
  return absl::StrCat(runs, runs == 1 ? " run of " : " runs of ",
                      Printed(static_cast<double>(ns), Unit::kNanoseconds));
}

std::string RunsText(const Comparison& comparison) {
  const auto [least, most] = std::minmax(comparison.base_ns, comparison.new_ns);
  std::string base = RunsText(comparison.base_runs, comparison.base_ns);
  // A twentieth is how long a command took to end.
  if (comparison.base_runs == comparison.new_runs &&
      most - least <= most / 20) {
    return absl::StrCat(base, " each");
  }
  return absl::StrCat(base, " -> ",
                      RunsText(comparison.new_runs, comparison.new_ns));
}

std::string MadeUnder(const Comparison& comparison, const TextForm& form) {
  const Grounds& grounds = comparison.grounds;
  std::string text;
  const auto line = [&](absl::string_view name, absl::string_view value) {
    if (value.empty()) return;
    absl::StrAppend(&text,
                    Paragraph(Ascii(value), absl::StrFormat(" %-8s ", name),
                              std::string(10, ' '), form.width));
  };
  for (const absl::string_view name :
       {"kernel", "build", "build id", "variant", "preempt", "host"}) {
    const Setting* setting = Find(grounds.settings, name);
    if (setting == nullptr) continue;
    // Of one host nothing need be said; a build id is for programs.
    if (name == "host" && (form.brief || setting->Same())) continue;
    if (name == "build id" && form.brief) continue;
    if (!setting->base.empty() || !setting->newer.empty()) {
      line(name, BothSides(*setting));
    }
  }
  line("machine", Machine(grounds));
  if (const Setting* command = Find(grounds.settings, "command")) {
    line("command", BothSides(*command));
  }
  line("set up", Settings(grounds.workload, grounds.workload.size()));
  line("changed",
       Settings(grounds.changed_too,
                form.brief ? kBriefChanges : grounds.changed_too.size()));
  line("runs", RunsText(comparison));
  return text;
}

size_t JudgedTests(const Comparison& comparison) {
  size_t count = 0;
  if (!IsTested(comparison)) return 0;
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const ComparedOutcome& row : subject.outcomes) {
      if (row.judged && row.judgement.p.has_value()) ++count;
    }
  }
  return count;
}

// How to read the numbers above it.
std::string Legend(const Comparison& comparison) {
  std::string text;
  if (comparison.base_runs > 1 || comparison.new_runs > 1) {
    text = comparison.base_runs == comparison.new_runs
               ? absl::StrCat("median (min-max) of ", comparison.base_runs,
                              " runs")
               : absl::StrCat("median (min-max) of ", comparison.base_runs,
                              " and ", comparison.new_runs, " runs");
  }
  if (SomeLack(comparison)) absl::StrAppend(&text, "; [n] only n have it");
  const size_t tests = JudgedTests(comparison);
  if (tests > 0) {
    absl::StrAppend(
        &text, "; p by an exact rank test over runs; * judged: ", tests,
        tests == 1 ? " test" : " tests",
        tests == 1 ? "" : ", Benjamini-Hochberg", ", at ",
        absl::StrFormat("%g", kSignificance), ", beyond a margin of ",
        absl::StrFormat("%.0f%%", 100 * (kMargin - 1)));
  }
  return text;
}

// What there is to say of subjects, each note once, and of all.
std::vector<std::string> NotesOf(const Comparison& comparison) {
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> of;
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const std::string& note : subject.notes) {
      const auto it = std::find(said.begin(), said.end(), note);
      const auto place = static_cast<size_t>(it - said.begin());
      if (it == said.end()) {
        said.push_back(note);
        of.emplace_back();
      }
      of[place].push_back(SubjectName(subject.subject));
    }
  }
  std::vector<std::string> notes;
  for (size_t i = 0; i < said.size(); ++i) {
    notes.push_back(absl::StrCat(absl::StrJoin(of[i], ", "), ": ", said[i]));
  }
  notes.insert(notes.end(), comparison.remarks.begin(),
               comparison.remarks.end());
  return notes;
}

std::string Headline(const Comparison& comparison) {
  std::string text =
      absl::StrCat(Name(comparison.finding), ": ", comparison.sentence);
  if (comparison.forced) {
    absl::StrAppend(&text, " (shown nevertheless, nothing is judged)");
  }
  return text;
}

}  // namespace

std::string ComparisonText(const Comparison& comparison, const TextForm& form) {
  std::string text =
      Paragraph(Ascii(Headline(comparison)), "", "  ", form.width);
  if (!comparison.cause.empty()) {
    absl::StrAppend(
        &text, Paragraph(Ascii(comparison.cause), "cause: ", "  ", form.width));
  }
  absl::StrAppend(
      &text, "\n",
      comparison.name.empty() ? "recorded windows" : Ascii(comparison.name),
      ": ", Ascii(comparison.base_title), " -> ", Ascii(comparison.new_title),
      "\n", MadeUnder(comparison, form));
  if (!comparison.subjects.empty()) {
    absl::StrAppend(&text, "\n", Table(LinesOf(comparison, form), form.width));
    const std::string legend = Legend(comparison);
    if (!legend.empty()) {
      absl::StrAppend(&text, "\n", Paragraph(legend, "", "", form.width));
    }
  }
  for (const std::string& note : NotesOf(comparison)) {
    absl::StrAppend(&text, Paragraph(Ascii(note), "- ", "  ", form.width));
  }
  return text;
}

}  // namespace swaplock
