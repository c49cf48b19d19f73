#include "cli/report/report_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/report/printed_number.h"
#include "common/cell.h"
#include "common/text_table.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

using Kind = Subject::Kind;
using Cells = std::vector<std::string>;
using Columns = std::vector<const GroupNumbers*>;  // null: has none

// Those that a mail would have.
bool IsBrief(absl::string_view metric) {
  static const auto* brief =
      new std::set<absl::string_view>{"operations_per_second",
                                      "acquisitions",
                                      "mode_share",
                                      "contended",
                                      "contended_share",
                                      "inversions",
                                      "latency_mean_ns",
                                      "latency_stddev_ns",
                                      "latency_p50_ns",
                                      "latency_p99_ns",
                                      "latency_p999_ns",
                                      "latency_p9999_ns",
                                      "latency_max_ns",
                                      "latency_over_1ms",
                                      "latency_over_10ms",
                                      "latency_over_100ms",
                                      "wait_total_ns",
                                      "wait_mean_ns",
                                      "wait_p99_ns",
                                      "wait_max_ns",
                                      "wait_over_1ms",
                                      "wait_over_10ms",
                                      "wait_over_100ms",
                                      "hold_total_ns",
                                      "hold_mean_ns",
                                      "hold_p99_ns",
                                      "hold_max_ns",
                                      "hold_over_1ms",
                                      "hold_over_10ms",
                                      "hold_over_100ms",
                                      "hold_on_cpu_share",
                                      "hold_runnable_share",
                                      "hold_preempted_share",
                                      "hold_blocked_share",
                                      "runnable_max_ns"};
  return brief->count(metric) > 0;
}

// Those whose absence must be seen.
bool IsNeeded(absl::string_view metric, Kind kind) {
  if (kind != Kind::kLock) return metric == "operations";
  static const auto* needed = new std::set<absl::string_view>{
      "acquisitions",      "contended",           "wait_total_ns",
      "wait_max_ns",       "hold_total_ns",       "hold_max_ns",
      "hold_on_cpu_share", "hold_runnable_share", "hold_blocked_share"};
  return needed->count(metric) > 0;
}

std::string TierOr(Tier tier) {
  return tier == Tier::kUnspecified ? "-" : std::string(Name(tier));
}

std::string RoleOf(const CellKey& key) {
  return absl::StrCat(Name(key.role),
                      key.mode == Mode::kShared ? " shared" : "");
}

// "zram1 read", with the codec where there are several.
std::string OperationOf(const CellKey& key) {
  return absl::StrCat(
      key.device.empty() ? std::string(Name(key.subsystem)) : key.device, " ",
      Name(key.operation), key.algorithm.empty() ? "" : " ", key.algorithm);
}

std::string TitleOf(const Subject& subject) {
  return subject.kind == Kind::kMeasurement ? subject.measurement
                                            : OperationOf(subject.key);
}

// In one line, with all that SubjectTable() says below the titles.
std::string HeadingOf(const GroupNumbers& numbers) {
  const Subject& subject = numbers.subject;
  switch (subject.kind) {
    case Kind::kMeasurement:
      return absl::StrCat(subject.measurement, ", ", numbers.threads,
                          numbers.threads == 1 ? " thread" : " threads",
                          " at nice ", numbers.nice);
    case Kind::kOperation:
      return absl::StrCat(OperationOf(subject.key), ", whole operations");
    case Kind::kLock:
      break;
  }
  return absl::StrCat(OperationOf(subject.key), ", ", RoleOf(subject.key),
                      " lock");
}

std::string ValueOf(const GroupNumbers* numbers, const Metric& metric) {
  if (numbers == nullptr) return "-";
  const auto found = numbers->values.find(metric.name);
  if (found == numbers->values.end()) return "-";
  const std::optional<Spread> spread = SpreadOf(found->second);
  if (!spread.has_value()) return "-";
  return absl::StrCat(Printed(*spread, metric.unit),
                      spread->runs < numbers->runs
                          ? absl::StrCat(" [of ", spread->runs, "]")
                          : "");
}

bool Has(const GroupNumbers* numbers, const Metric& metric) {
  return numbers != nullptr && numbers->values.count(metric.name) > 0;
}

bool AllZero(const GroupNumbers* numbers, const Metric& metric) {
  if (!Has(numbers, metric)) return true;
  const std::vector<double>& values = numbers->values.at(metric.name);
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return value == 0; });
}

// The rows of one part.
using Part = std::vector<const Metric*>;

// A wait, a runnable or a blocked part that none had needs no ten rows of 0,
// nor one that nobody could see ten of "-".
bool IsOneLine(const Part& part, const Columns& columns) {
  bool any = false;
  for (const Metric* metric : part) {
    for (const GroupNumbers* numbers : columns) {
      any |= Has(numbers, *metric);
      if (!AllZero(numbers, *metric)) return false;
    }
  }
  return !any || part[0]->part != "of all hold time";
}

// In a mail, a 0 everywhere is worth a line only of what people look for.
bool IsWorthALineAtZero(absl::string_view metric) {
  static const auto* worth = new std::set<absl::string_view>{
      "operations_per_second", "acquisitions",   "contended",
      "latency_over_10ms",     "wait_over_10ms", "hold_over_10ms",
      "hold_runnable_share"};
  return worth->count(metric) > 0;
}

std::vector<Part> PartsOf(const Columns& columns, Kind kind, bool brief) {
  std::vector<Part> parts;
  absl::string_view last;
  for (const Metric& metric : Metrics()) {
    if (brief && !IsBrief(metric.name)) continue;
    const bool any = std::any_of(
        columns.begin(), columns.end(),
        [&metric](const GroupNumbers* one) { return Has(one, metric); });
    if (!any && !IsNeeded(metric.name, kind)) continue;
    if (any && brief && !IsWorthALineAtZero(metric.name) &&
        std::all_of(columns.begin(), columns.end(),
                    [&metric](const GroupNumbers* one) {
                      return AllZero(one, metric);
                    })) {
      continue;
    }
    if (parts.empty() || metric.part != last) parts.emplace_back();
    last = metric.part;
    parts.back().push_back(&metric);
  }
  return parts;
}

// Adds the quantities of one kind of subject to rows of one label and one text
// per column.
void AddQuantities(const Columns& columns, Kind kind, bool brief,
                   absl::string_view indent, std::vector<Cells>* rows) {
  for (const Part& part : PartsOf(columns, kind, brief)) {
    const absl::string_view heading = part[0]->part;
    if (!heading.empty() && IsOneLine(part, columns)) {
      Cells row = {absl::StrCat(indent, heading)};
      for (const GroupNumbers* numbers : columns) {
        const bool measured = std::any_of(
            part.begin(), part.end(),
            [numbers](const Metric* one) { return Has(numbers, *one); });
        row.push_back(measured ? "none" : "-");
      }
      rows->push_back(std::move(row));
      continue;
    }
    if (!heading.empty()) rows->push_back({absl::StrCat(indent, heading)});
    for (const Metric* metric : part) {
      Cells row = {
          absl::StrCat(indent, heading.empty() ? "" : "  ", metric->title)};
      for (const GroupNumbers* numbers : columns) {
        row.push_back(ValueOf(numbers, *metric));
      }
      rows->push_back(std::move(row));
    }
  }
}

size_t WidthOf(const std::string& text) {
  size_t width = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    width = std::max(width, CharactersIn(line));
  }
  return width;
}

// `headings` are for the rows that are empty, in their order: they may be wider
// than the first column.
std::string Rendered(const Cells& titles, const std::vector<Cells>& rows,
                     const std::vector<std::string>& headings = {}) {
  TextTable table;
  table.AddColumn("", TextTable::Align::kLeft);
  for (const std::string& title : titles) {
    table.AddColumn(title, TextTable::Align::kRight);
  }
  for (const Cells& row : rows) table.AddRow(row);
  std::string text = table.Render("  ");
  if (headings.empty()) return text;
  std::string out;
  size_t heading = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    const bool empty = line.empty() && heading < headings.size();
    absl::StrAppend(&out, empty ? "  " : "", empty ? headings[heading] : line,
                    "\n");
    heading += empty ? 1 : 0;
  }
  return out;
}

// As many columns a table as the width takes; `make` makes the table of columns
// [first, last).
template <typename MakeTable>
std::string Chunked(size_t columns, size_t width, const MakeTable& make) {
  std::string out;
  size_t first = 0;
  while (first < columns) {
    size_t last = first + 1;
    std::string text = make(first, last);
    while (last < columns) {
      std::string wider = make(first, last + 1);
      if (width > 0 && WidthOf(wider) > width) break;
      text = std::move(wider);
      ++last;
    }
    absl::StrAppend(&out, first > 0 ? "\n" : "", text);
    first = last;
  }
  return out;
}

// In how many of the runs the subject was seen at all, where not in all.
void AddRuns(const Columns& columns, absl::string_view indent,
             std::vector<Cells>* rows) {
  Cells row = {absl::StrCat(indent, "seen in")};
  bool everywhere = true;
  for (const GroupNumbers* numbers : columns) {
    row.push_back(numbers == nullptr
                      ? "-"
                      : absl::StrCat(numbers->runs, " of ", numbers->group_runs,
                                     " runs"));
    everywhere &= numbers == nullptr || numbers->runs == numbers->group_runs;
  }
  if (!everywhere) rows->push_back(std::move(row));
}

// What stands between the titles and the first quantity.
void AddMeans(const Columns& columns, Kind kind, std::vector<Cells>* rows) {
  const auto add = [&columns, rows](absl::string_view label, const auto& of) {
    Cells row = {std::string(label)};
    for (const GroupNumbers* numbers : columns) row.push_back(of(*numbers));
    rows->push_back(std::move(row));
  };
  switch (kind) {
    case Kind::kMeasurement:
      add("threads",
          [](const GroupNumbers& n) { return absl::StrCat(n.threads); });
      add("nice", [](const GroupNumbers& n) { return absl::StrCat(n.nice); });
      return;
    case Kind::kOperation:
      add("takes", [](const GroupNumbers& n) { return ModelName(n.model); });
      add("measured by",
          [](const GroupNumbers& n) { return TierOr(n.latency_tier); });
      return;
    case Kind::kLock:
      add("lock", [](const GroupNumbers& n) { return RoleOf(n.subject.key); });
      add("model", [](const GroupNumbers& n) { return ModelName(n.model); });
      add("holds by",
          [](const GroupNumbers& n) { return TierOr(n.hold_tier); });
      add("waits by",
          [](const GroupNumbers& n) { return TierOr(n.wait_tier); });
      return;
  }
}

}  // namespace

std::string SubjectTable(const std::vector<GroupNumbers>& subjects,
                         const TableForm& form) {
  return Chunked(subjects.size(), form.width, [&](size_t first, size_t last) {
    Columns columns;
    Cells titles;
    for (size_t i = first; i < last; ++i) {
      columns.push_back(&subjects[i]);
      titles.push_back(TitleOf(subjects[i].subject));
    }
    const Kind kind = columns[0]->subject.kind;
    std::vector<Cells> rows;
    AddMeans(columns, kind, &rows);
    AddRuns(columns, "", &rows);
    AddQuantities(columns, kind, form.brief, "", &rows);
    return Rendered(titles, rows);
  });
}

std::string VariantTable(const std::vector<std::string>& titles,
                         const std::vector<std::vector<GroupNumbers>>& columns,
                         const TableForm& form) {
  std::map<Subject, Columns> by_subject;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const GroupNumbers& numbers : columns[i]) {
      Columns& all = by_subject[numbers.subject];
      all.resize(columns.size(), nullptr);
      all[i] = &numbers;
    }
  }
  return Chunked(titles.size(), form.width, [&](size_t first, size_t last) {
    std::vector<Cells> rows;
    std::vector<std::string> headings;
    for (const auto& [subject, all] : by_subject) {
      const Columns here(all.begin() + static_cast<ptrdiff_t>(first),
                         all.begin() + static_cast<ptrdiff_t>(last));
      const auto one = std::find_if(
          all.begin(), all.end(),
          [](const GroupNumbers* numbers) { return numbers != nullptr; });
      headings.push_back(HeadingOf(**one));
      rows.emplace_back();
      if (subject.kind != Kind::kMeasurement) {
        Cells row = {"  model"};
        for (const GroupNumbers* numbers : here) {
          row.push_back(numbers == nullptr ? "-" : ModelName(numbers->model));
        }
        rows.push_back(std::move(row));
      }
      AddRuns(here, "  ", &rows);
      AddQuantities(here, subject.kind, form.brief, "  ", &rows);
    }
    return Rendered({titles.begin() + static_cast<ptrdiff_t>(first),
                     titles.begin() + static_cast<ptrdiff_t>(last)},
                    rows, headings);
  });
}

}  // namespace swaplock
