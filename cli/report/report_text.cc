#include "cli/report/report_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/report/report_environment.h"
#include "cli/report/report_table.h"
#include "cli/report/run_statistics.h"
#include "common/cell.h"
#include "common/text_table.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

using Kind = Subject::Kind;

std::string EnvironmentText(const EnvironmentLines& lines, size_t width) {
  std::string text;
  for (const auto& [label, sentence] : lines) {
    std::string first = absl::StrCat("  ", label);
    first.resize(12, ' ');
    absl::StrAppend(&text,
                    Wrapped(sentence, first, std::string(12, ' '), width));
  }
  return text;
}

absl::string_view TitleOf(Kind kind) {
  switch (kind) {
    case Kind::kMeasurement:
      return "what the command measured";
    case Kind::kOperation:
      return "whole operations";
    case Kind::kLock:
      break;
  }
  return "locks";
}

// The longest holds of a group's runs.
struct Holds {
  std::vector<Hold> holds;  // Hold::cell points into `cells`
  std::vector<Cell> cells;
  std::vector<std::string> origins;  // which run; empty if there is but one
};

template <typename HoldsOfRun>
Holds HoldsOf(const RunGroup& group, size_t limit, const HoldsOfRun& of) {
  std::vector<std::pair<const RecordedRun*, const RecordedHold*>> all;
  for (const RecordedRun* run : group.runs) {
    for (const RecordedHold& hold : of(*run)) all.emplace_back(run, &hold);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second->hold.hold_ns > b.second->hold.hold_ns;
  });
  if (all.size() > limit) all.resize(limit);
  Holds out;
  for (const auto& [run, recorded] : all) {
    Cell cell;
    if (const auto found = run->cells.find(recorded->key);
        found != run->cells.end()) {
      cell = found->second;
    }
    cell.key = recorded->key;
    out.holds.push_back(recorded->hold);
    out.holds.back().cell = static_cast<uint32_t>(out.cells.size());
    out.cells.push_back(std::move(cell));
    if (group.runs.size() > 1) {
      out.origins.push_back(absl::StrCat("run ", run->begin.repetition));
    }
  }
  return out;
}

std::string HoldsText(const RunGroup& group, const ReportForm& form) {
  std::string text;
  const Holds longest = HoldsOf(
      group, form.holds,
      [](const RecordedRun& run) -> const auto& { return run.longest; });
  if (!longest.holds.empty()) {
    absl::StrAppend(&text, "\nlongest holds\n",
                    HoldTable(longest.holds, longest.cells, "  ",
                              longest.origins, form.width));
  }
  for (size_t i = 0; i < longest.holds.size(); ++i) {
    const Hold& hold = longest.holds[i];
    const std::string why = HoldExplanation(hold, "    ", form.width);
    if (why.empty()) continue;
    absl::StrAppend(&text, "  the one of ", FormatNs(hold.hold_ns), ", ",
                    HolderName(hold), "\n", why);
  }
  const Holds open = HoldsOf(
      group, form.holds,
      [](const RecordedRun& run) -> const auto& { return run.in_progress; });
  if (!open.holds.empty()) {
    absl::StrAppend(
        &text, "\nstill held when the last window ended, in no table\n",
        HoldTable(open.holds, open.cells, "  ", open.origins, form.width));
  }
  return text;
}

std::string NothingText(const RunGroup& group, size_t width) {
  const bool windows =
      std::any_of(group.runs.begin(), group.runs.end(),
                  [](const RecordedRun* run) { return run->windows > 0; });
  return absl::StrCat(
      "\n", Wrapped(windows ? "No operation of zswap, zram or zsmalloc, no "
                              "hold and no wait was seen."
                            : "There is no window, so nothing is known of the "
                              "locks.",
                    "", "", width));
}

constexpr absl::string_view kLegend =
    "-: not measured, or of too few values for that percentile. Percentiles "
    "and "
    "the standard deviation are from buckets 9% wide, except the deviation of "
    "what the command measured; counts, sums, maxima and what is over a "
    "threshold are exact. Waits are of contended acquisitions.";

std::string TablesText(const RunGroup& group, const ReportForm& form) {
  const std::vector<GroupNumbers> all = StatisticsOf(group);
  if (all.empty()) return NothingText(group, form.width);
  std::string text;
  for (const Kind kind : {Kind::kMeasurement, Kind::kOperation, Kind::kLock}) {
    std::vector<GroupNumbers> of_kind;
    for (const GroupNumbers& numbers : all) {
      if (numbers.subject.kind == kind) of_kind.push_back(numbers);
    }
    if (of_kind.empty() && kind == Kind::kLock) {
      absl::StrAppend(&text, "\n", TitleOf(kind),
                      "\n  No hold and no wait was seen.\n");
    }
    if (of_kind.empty()) continue;
    absl::StrAppend(&text, "\n", TitleOf(kind), "\n",
                    SubjectTable(of_kind, {form.width, form.mail}));
  }
  return absl::StrCat(text, "\n", Wrapped(kLegend, "", "", form.width));
}

std::string GroupText(const RunGroup& group, const ReportForm& form) {
  return absl::StrCat(Wrapped(GroupTitle(group), "", "  ", form.width),
                      EnvironmentText(EnvironmentOf(group), form.width),
                      TablesText(group, form), HoldsText(group, form));
}

// The variant, or the kernel where that is what differs.
std::string VariantOf(const RunGroup& group) {
  const RunBegin& begin = group.begin();
  return begin.variant.empty() ? begin.environment.kernel_release
                               : begin.variant;
}

// Groups of one name, side by side.
std::string VariantsText(const std::vector<RunGroup>& groups,
                         const ReportForm& form) {
  std::vector<std::string> titles;
  std::vector<EnvironmentLines> lines;
  std::vector<std::vector<GroupNumbers>> numbers;
  bool any = false;
  for (const RunGroup& group : groups) {
    titles.push_back(VariantOf(group));
    if (form.each) {
      absl::StrAppend(&titles.back(), " #", group.begin().repetition);
    }
    lines.push_back(EnvironmentOf(group));
    numbers.push_back(StatisticsOf(group));
    any |= !numbers.back().empty();
  }
  // Twice the same variant on several kernels, or the other way about.
  for (size_t i = 0; i < titles.size(); ++i) {
    if (std::count(titles.begin(), titles.end(), titles[i]) > 1) {
      titles[i] = absl::StrCat(titles[i], " ",
                               groups[i].begin().environment.kernel_release);
    }
  }
  EnvironmentLines common;
  for (const auto& line : lines[0]) {
    const bool everywhere =
        std::all_of(lines.begin(), lines.end(), [&line](const auto& other) {
          return std::find(other.begin(), other.end(), line) != other.end();
        });
    if (everywhere) common.push_back(line);
  }
  std::string text = absl::StrCat(groups[0].begin().name, "\n",
                                  EnvironmentText(common, form.width));
  for (size_t i = 0; i < groups.size(); ++i) {
    EnvironmentLines own;
    for (const auto& line : lines[i]) {
      if (std::find(common.begin(), common.end(), line) == common.end()) {
        own.push_back(line);
      }
    }
    const size_t runs = groups[i].runs.size();
    absl::StrAppend(
        &text, titles[i],
        runs > 1 ? absl::StrCat(", median (min-max) of ", runs, " runs") : "",
        "\n", EnvironmentText(own, form.width));
  }
  if (!any) return absl::StrCat(text, NothingText(groups[0], form.width));
  absl::StrAppend(&text, "\n",
                  VariantTable(titles, numbers, {form.width, form.mail}), "\n",
                  Wrapped(kLegend, "", "", form.width));
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string holds = HoldsText(groups[i], form);
    if (!holds.empty()) absl::StrAppend(&text, "\n", titles[i], holds);
  }
  return text;
}

std::string Ascii(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // One '?' for each character of several bytes.
    if ((byte & 0xc0) == 0x80) continue;
    out.push_back(byte < 0x80 ? c : '?');
  }
  return out;
}

}  // namespace

std::string ReportText(const Recordings& recordings, const ReportForm& form) {
  std::vector<RunGroup> groups;
  if (form.each) {
    for (const RecordedRun& run : recordings.runs) groups.push_back({{&run}});
  } else {
    groups = GroupsOf(recordings.runs);
  }
  std::string text;
  for (const std::string& remark : recordings.remarks) {
    absl::StrAppend(&text,
                    Wrapped(Printable(remark), "note: ", "  ", form.width));
  }
  std::vector<std::string> blocks;
  while (!groups.empty()) {
    const RunGroup first = groups[0];
    std::vector<RunGroup> together;
    std::vector<RunGroup> rest;
    for (const RunGroup& group : groups) {
      // In a mail, all of that name come together.
      const bool same = form.mail && first.runs[0]->HasCommand() &&
                        group.begin().name == first.begin().name;
      (same || &group == groups.data() ? together : rest).push_back(group);
    }
    blocks.push_back(together.size() > 1 ? VariantsText(together, form)
                                         : GroupText(first, form));
    groups = std::move(rest);
  }
  for (const std::string& block : blocks) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", block);
  }
  return form.mail ? Ascii(text) : text;
}

}  // namespace swaplock
