#include "cli/compare/comparison_arms.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace swaplock {
namespace {

// What a selector's key says of a run; labels have any other name.
std::string ValueOf(const RecordedRun& run, absl::string_view key) {
  const RunBegin& begin = run.begin;
  if (key == "kernel") return begin.environment.kernel_release;
  if (key == "variant") return begin.variant;
  if (key == "preempt") return begin.environment.preempt;
  if (key == "host") return begin.host_id;
  if (key == "run") return begin.name;
  const auto label = begin.labels.find(std::string(key));
  return label == begin.labels.end() ? "" : label->second;
}

// "6.12" begins "6.12.90", not "6.120".
bool IsKernel(absl::string_view release, absl::string_view wanted) {
  if (!absl::StartsWith(release, wanted)) return false;
  return release.size() == wanted.size() ||
         !absl::ascii_isdigit(
             static_cast<unsigned char>(release[wanted.size()])) ||
         !absl::ascii_isdigit(static_cast<unsigned char>(wanted.back()));
}

// What tells one side from the other when nothing was chosen.
std::pair<std::string, std::string> SideOf(const RecordedRun& run) {
  return {run.begin.variant, run.begin.environment.kernel_release};
}

std::string SideName(const std::pair<std::string, std::string>& side) {
  return side.first.empty() ? side.second : side.first;
}

std::string WhatThereIs(absl::Span<const RecordedRun> runs) {
  std::set<std::string> variants;
  std::set<std::string> kernels;
  std::set<std::string> labels;
  for (const RecordedRun& run : runs) {
    if (!run.begin.variant.empty()) variants.insert(run.begin.variant);
    kernels.insert(run.begin.environment.kernel_release);
    for (const auto& [name, value] : run.begin.labels) {
      labels.insert(absl::StrCat(name, "=", value));
    }
  }
  std::string text =
      absl::StrCat("there are kernels ", absl::StrJoin(kernels, ", "));
  if (!variants.empty()) {
    absl::StrAppend(&text, ", variants ", absl::StrJoin(variants, ", "));
  }
  if (!labels.empty()) {
    absl::StrAppend(&text, ", labels ", absl::StrJoin(labels, ", "));
  }
  return text;
}

template <typename Matches>
Runs Filtered(absl::Span<const RecordedRun> runs, const Matches& matches) {
  Runs out;
  for (const RecordedRun& run : runs) {
    if (matches(run)) out.push_back(&run);
  }
  return out;
}

std::map<std::string, Runs> ByName(const Runs& runs) {
  std::map<std::string, Runs> out;
  for (const RecordedRun* run : runs) {
    out[run->HasCommand() ? run->begin.name : ""].push_back(run);
  }
  // The order of files must not show.
  for (auto& [name, named] : out) {
    std::sort(named.begin(), named.end(),
              [](const RecordedRun* a, const RecordedRun* b) {
                const auto place = [](const RunBegin& begin) {
                  return std::tie(begin.begin_unix_ns, begin.repetition,
                                  begin.id, begin.host_id, begin.boot_id);
                };
                return place(a->begin) < place(b->begin);
              });
  }
  return out;
}

absl::Status OneSide(const Runs& runs, absl::string_view name,
                     absl::string_view flag) {
  std::set<std::pair<std::string, std::string>> sides;
  for (const RecordedRun* run : runs) sides.insert(SideOf(*run));
  if (sides.size() <= 1) return absl::OkStatus();
  std::set<std::string> names;
  for (const auto& side : sides) names.insert(SideName(side));
  const bool variants = names.size() == sides.size();
  if (!variants) {
    names.clear();
    for (const auto& side : sides) {
      names.insert(absl::StrCat("kernel=", side.second));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the ", flag, " runs", name.empty() ? "" : " of ", name, " are of ",
      absl::StrJoin(names, " and "), ": choose with --", flag));
}

std::string Quoted(absl::string_view name) {
  return name.empty() ? "windows without a command" : std::string(name);
}

std::string NamesOf(const std::map<std::string, Runs>& runs) {
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const auto& [name, unused] : runs) names.push_back(Quoted(name));
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<Runs> SelectRuns(absl::Span<const RecordedRun> runs,
                                absl::string_view selector) {
  const auto everything = [](const RecordedRun&) { return true; };
  if (selector.empty()) return Filtered(runs, everything);
  Runs chosen;
  const size_t equals = selector.find('=');
  if (equals != absl::string_view::npos) {
    const absl::string_view key = selector.substr(0, equals);
    const absl::string_view value = selector.substr(equals + 1);
    chosen = Filtered(runs, [&](const RecordedRun& run) {
      const std::string has = ValueOf(run, key);
      return has == value ||
             (key == "kernel" && !value.empty() && IsKernel(has, value));
    });
  } else {
    chosen = Filtered(runs, [&](const RecordedRun& run) {
      return run.begin.variant == selector;
    });
    if (chosen.empty()) {
      chosen = Filtered(runs, [&](const RecordedRun& run) {
        return IsKernel(run.begin.environment.kernel_release, selector);
      });
    }
  }
  if (chosen.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no run is of \"", selector,
        "\": ", runs.empty() ? "there are no runs at all" : WhatThereIs(runs)));
  }
  return chosen;
}

absl::StatusOr<std::vector<Arms>> PairRuns(const Runs& base,
                                           const Runs& newer) {
  const std::map<std::string, Runs> bases = ByName(base);
  const std::map<std::string, Runs> newers = ByName(newer);
  std::vector<Arms> out;
  std::vector<std::string> unpaired;
  for (const auto& [name, runs] : bases) {
    const auto other = newers.find(name);
    if (other != newers.end()) {
      out.push_back({name, runs, other->second, {}});
    } else {
      unpaired.push_back(absl::StrCat(Quoted(name), " is in base only"));
    }
  }
  for (const auto& [name, runs] : newers) {
    if (bases.count(name) == 0) {
      unpaired.push_back(absl::StrCat(Quoted(name), " is in new only"));
    }
  }
  if (out.empty() && bases.size() == 1 && newers.size() == 1) {
    const auto& [from, base_runs] = *bases.begin();
    const auto& [to, new_runs] = *newers.begin();
    unpaired = {absl::StrCat("the base runs are named ", Quoted(from),
                             ", the new ones ", Quoted(to))};
    out.push_back({to, base_runs, new_runs, {}});
  }
  if (out.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no run is on both sides: base has ", NamesOf(bases),
                     "; new has ", NamesOf(newers)));
  }
  for (const Arms& arms : out) {
    for (const absl::Status& status : {OneSide(arms.base, arms.name, "base"),
                                       OneSide(arms.newer, arms.name, "new")}) {
      if (!status.ok()) return status;
    }
  }
  out[0].remarks = std::move(unpaired);
  return out;
}

std::string RunTitle(const RecordedRun& run) {
  const RunBegin& begin = run.begin;
  std::string title = begin.name;
  const std::string side = SideName(SideOf(run));
  if (!side.empty()) absl::StrAppend(&title, " ", side);
  if (begin.repetition > 0) {
    absl::StrAppend(&title, " run ", begin.repetition);
  }
  return title;
}

Runs Usable(const Runs& runs, std::vector<std::string>* remarks) {
  Runs out;
  for (const RecordedRun* run : runs) {
    std::string reason;
    if (run->CutShort()) {
      reason = "it was cut short";
    } else if (run->end.has_value() && run->end->signal != 0) {
      reason = absl::StrCat("signal ", run->end->signal, " ended its command");
    } else if (run->end.has_value() && run->end->exit_status != 0) {
      reason = absl::StrCat("its command failed with exit status ",
                            run->end->exit_status);
    } else if (run->end.has_value() && !run->end->error.empty()) {
      reason = run->end->error;
    } else if (run->cells.empty() && (!run->end.has_value() ||
                                      run->end->result.measurements.empty())) {
      reason = "it measured nothing";
    }
    if (reason.empty()) {
      out.push_back(run);
    } else {
      remarks->push_back(
          absl::StrCat(RunTitle(*run), " is left out: ", reason));
    }
  }
  return out;
}

}  // namespace swaplock
