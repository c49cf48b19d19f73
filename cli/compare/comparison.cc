#include "cli/compare/comparison.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/compare/comparison_finding.h"
#include "cli/compare/comparison_loss.h"
#include "cli/compare/comparison_subject.h"
#include "cli/report/printed_number.h"

namespace swaplock {
namespace {

// Of one run each.
using Side = std::vector<std::map<Subject, SubjectNumbers>>;

Side NumbersOf(const Runs& runs) {
  Side side;
  side.reserve(runs.size());
  for (const RecordedRun* run : runs) side.push_back(AlignedNumbers(*run));
  return side;
}

std::vector<const SubjectNumbers*> Of(const Side& side,
                                      const Subject& subject) {
  std::vector<const SubjectNumbers*> out;
  for (const auto& run : side) {
    const auto it = run.find(subject);
    if (it != run.end()) out.push_back(&it->second);
  }
  return out;
}

uint64_t MedianLength(const Runs& runs) {
  std::vector<double> lengths;
  lengths.reserve(runs.size());
  for (const RecordedRun* run : runs) {
    lengths.push_back(static_cast<double>(run->duration_ns()));
  }
  const std::optional<Spread> spread = SpreadOf(std::move(lengths));
  return spread.has_value() ? static_cast<uint64_t>(spread->median) : 0;
}

// What tells the sides apart in few words.
std::pair<std::string, std::string> Titles(const Grounds& grounds) {
  for (const absl::string_view name : {"variant", "kernel", "preempt"}) {
    for (const Setting& setting : grounds.settings) {
      if (setting.name != name || setting.Same()) continue;
      if (setting.base.empty() || setting.newer.empty()) continue;
      if (absl::StrContains(setting.base, ", ") ||
          absl::StrContains(setting.newer, ", ")) {
        continue;
      }
      return {setting.base, setting.newer};
    }
  }
  return {"base", "new"};
}

}  // namespace

absl::string_view Name(Finding finding) {
  switch (finding) {
    case Finding::kNotComparable:
      return "not comparable";
    case Finding::kNotEnoughRuns:
      return "not enough runs";
    case Finding::kNoDifference:
      return "no difference shown";
    case Finding::kWorse:
      return "worse";
    case Finding::kBetter:
      return "better";
    case Finding::kMixed:
      return "mixed";
  }
  return "";
}

int ComparedOutcome::Verdict() const {
  if (outcome.wanted == Wanted::kNeither || !judgement.Shown()) return 0;
  return outcome.wanted == Wanted::kLess ? judgement.direction
                                         : -judgement.direction;
}

Comparison Compare(const Arms& arms, const CompareRules& rules) {
  Comparison out;
  out.name = arms.name;
  out.remarks = arms.remarks;
  const Runs base = Usable(arms.base, &out.remarks);
  const Runs newer = Usable(arms.newer, &out.remarks);
  out.base_runs = base.size();
  out.new_runs = newer.size();
  out.base_ns = MedianLength(base);
  out.new_ns = MedianLength(newer);
  out.grounds = GroundsOf(base, newer, rules.may_differ);
  std::tie(out.base_title, out.new_title) = Titles(out.grounds);
  std::vector<std::string>& refusals = out.grounds.refusals;
  for (const auto& [side, runs] :
       {std::make_pair("base", &base), std::make_pair("new", &newer)}) {
    if (!runs->empty()) continue;
    refusals.insert(refusals.begin(),
                    absl::StrCat("no ", side, " run can be used"));
  }

  const Losses losses = LossesOf(base, newer);
  out.remarks.insert(out.remarks.end(), losses.remarks.begin(),
                     losses.remarks.end());
  const Side from = NumbersOf(base);
  const Side to = NumbersOf(newer);
  std::set<Subject> subjects;
  for (const Side* side : {&from, &to}) {
    for (const auto& run : *side) {
      for (const auto& [subject, numbers] : run) subjects.insert(subject);
    }
  }
  for (const Subject& subject : subjects) {
    out.subjects.push_back(
        CompareSubject(subject, Of(from, subject), Of(to, subject), losses));
  }
  Conclude(base, newer, rules.force, &out);
  return out;
}

}  // namespace swaplock
