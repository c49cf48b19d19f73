#include "cli/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/comparison_cause.h"
#include "cli/comparison_loss.h"
#include "cli/printed_number.h"
#include "common/window_table.h"
#include "server/verdict/rank_test.h"

namespace swaplock {
namespace {

using Kind = Subject::Kind;
// Of one run each.
using Side = std::vector<std::map<Subject, SubjectNumbers>>;

// Runs whose lengths differ by more have not had the same chances of a maximum.
constexpr double kSameLength = 1.2;
// How many outcomes a sentence names.
constexpr size_t kNamed = 3;

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

bool SameLength(uint64_t a, uint64_t b) {
  return static_cast<double>(std::max(a, b)) <=
         static_cast<double>(std::min(a, b)) * kSameLength;
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

std::set<LockModel> Models(const std::vector<const SubjectNumbers*>& runs) {
  std::set<LockModel> models;
  for (const SubjectNumbers* run : runs) {
    models.insert(run->models.begin(), run->models.end());
  }
  return models;
}

std::string ModelsText(const std::set<LockModel>& models) {
  if (models == std::set<LockModel>{LockModel::kRwsemShared,
                                    LockModel::kRwsemExclusive}) {
    return "rwsem";
  }
  std::vector<std::string> names;
  for (const LockModel model : models) names.push_back(ModelName(model));
  return absl::StrJoin(names, "+");
}

std::set<Tier> Tiers(const std::vector<const SubjectNumbers*>& runs,
                     Sight sight) {
  std::set<Tier> tiers;
  for (const SubjectNumbers* run : runs) tiers.insert(run->TierOf(sight));
  return tiers;
}

std::string TiersText(const std::set<Tier>& tiers) {
  std::vector<std::string> names;
  for (const Tier tier : tiers) {
    names.emplace_back(tier == Tier::kUnspecified ? "not measured"
                                                  : Name(tier));
  }
  return absl::StrJoin(names, ", ");
}

absl::string_view SightName(Sight sight) {
  switch (sight) {
    case Sight::kLatency:
      return "latencies";
    case Sight::kWait:
      return "waits";
    case Sight::kHold:
      return "holds";
  }
  return "";
}

// A subject of both sides, and why one sight of it cannot be tested.
class Sights {
 public:
  Sights(const Subject& subject, std::vector<const SubjectNumbers*> base,
         std::vector<const SubjectNumbers*> newer, std::string loss,
         std::string sampling)
      : subject_(subject),
        base_(std::move(base)),
        newer_(std::move(newer)),
        loss_(std::move(loss)),
        sampling_(std::move(sampling)) {}

  // Empty if it can.
  std::string Untested(Sight sight) const {
    if (subject_.kind == Kind::kMeasurement) return "";
    if (base_.empty() || newer_.empty()) return "";
    if (!loss_.empty()) return loss_;
    const std::set<LockModel> from = Models(base_);
    const std::set<LockModel> to = Models(newer_);
    if (sight == Sight::kHold && from != to) {
      return absl::StrCat("holds are of different locks (", ModelsText(from),
                          " and ", ModelsText(to), ")");
    }
    if (sight == Sight::kHold && !sampling_.empty()) return sampling_;
    const std::set<LockModel> none = {LockModel::kNone};
    if (from == none || to == none) return "";
    const std::set<Tier> by = Tiers(base_, sight);
    const std::set<Tier> now_by = Tiers(newer_, sight);
    if (by.size() == 1 && by == now_by) return "";
    return absl::StrCat(SightName(sight), " are measured in different ways (",
                        TiersText(by), " and ", TiersText(now_by), ")");
  }

  std::string Detail() const {
    if (subject_.kind == Kind::kMeasurement) {
      const SubjectNumbers& one =
          base_.empty() ? *newer_.front() : *base_.front();
      return absl::StrCat(one.threads,
                          one.threads == 1 ? " thread" : " threads", ", nice ",
                          one.nice);
    }
    const std::string from = ModelsText(Models(base_));
    const std::string to = ModelsText(Models(newer_));
    if (base_.empty() || newer_.empty()) {
      return absl::StrCat(from, to,
                          base_.empty() ? ", new only" : ", base only");
    }
    return from == to ? from : absl::StrCat(from, " -> ", to);
  }

  std::vector<double> Values(bool of_base, absl::string_view metric) const {
    std::vector<double> out;
    for (const SubjectNumbers* run : of_base ? base_ : newer_) {
      const auto it = run->values.find(metric);
      if (it != run->values.end()) out.push_back(it->second);
    }
    return out;
  }

 private:
  const Subject& subject_;
  const std::vector<const SubjectNumbers*> base_;
  const std::vector<const SubjectNumbers*> newer_;
  const std::string loss_;
  const std::string sampling_;
};

void AddNote(std::string note, ComparedSubject* subject) {
  std::vector<std::string>& notes = subject->notes;
  if (note.empty() ||
      std::find(notes.begin(), notes.end(), note) != notes.end()) {
    return;
  }
  notes.push_back(std::move(note));
}

ComparedSubject CompareSubject(const Subject& subject, const Sights& sights) {
  ComparedSubject out;
  out.subject = subject;
  out.detail = sights.Detail();
  for (const Outcome& outcome : OutcomesOf(subject.kind)) {
    ComparedOutcome row;
    row.outcome = outcome;
    row.base = sights.Values(true, outcome.metric);
    row.newer = sights.Values(false, outcome.metric);
    if (row.base.empty() && row.newer.empty()) continue;
    row.judgement = Judge(row.base, row.newer);
    row.untested = sights.Untested(outcome.sight);
    if (!row.untested.empty()) {
      row.judgement.p.reset();
      AddNote(row.untested + ": shown, not tested", &out);
    }
    out.outcomes.push_back(std::move(row));
  }
  return out;
}

bool Judged(Kind kind, absl::string_view metric, bool rates, bool same_length) {
  if (metric == kRate) return rates;
  if (metric == kSlowest || metric == "wait_max_ns") return same_length;
  return metric == kOver10Ms || (kind == Kind::kLock && metric == kContended);
}

// Marks the outcomes that the finding is made of: of the first kind of subject
// that has any. Returns why the kinds above the last looked at have none.
std::vector<ComparedOutcome*> ChooseJudged(bool rates, bool same_length,
                                           Comparison* comparison) {
  std::vector<ComparedOutcome*> judged;
  for (const Kind kind : {Kind::kMeasurement, Kind::kOperation, Kind::kLock}) {
    for (ComparedSubject& subject : comparison->subjects) {
      if (subject.subject.kind != kind) continue;
      // Waits of different locks are no referee.
      if (kind == Kind::kLock && absl::StrContains(subject.detail, "->")) {
        continue;
      }
      for (ComparedOutcome& row : subject.outcomes) {
        if (row.base.empty() || row.newer.empty() || !row.untested.empty() ||
            !Judged(kind, row.outcome.metric, rates && kind != Kind::kOperation,
                    same_length)) {
          continue;
        }
        row.judged = true;
        judged.push_back(&row);
      }
    }
    if (!judged.empty()) return judged;
  }
  return judged;
}

std::string Percent(double ratio) {
  return absl::StrCat(std::lround(100 * (ratio - 1)), "%");
}

std::string PText(const Judgement& judgement) {
  return absl::StrFormat("p %s %.2g", judgement.exact ? "=" : "~",
                         *judgement.p);
}

double Median(const std::vector<double>& values) {
  const std::optional<Spread> spread = SpreadOf(values);
  return spread.has_value() ? spread->median : 0;
}

std::string TitleOf(const Outcome& outcome) {
  return outcome.metric == kOver10Ms && outcome.sight == Sight::kLatency
             ? "over 10 ms per million"
             : std::string(outcome.title);
}

// An outcome and the subject that it is of.
struct Place {
  const ComparedSubject* subject;
  const ComparedOutcome* row;
};

// "slowest 22.3 ms -> 314 ms (+14.1x, p = 0.0079)"
std::string PlaceText(const Place& place, bool with_subject) {
  const ComparedOutcome& row = *place.row;
  const double from = Median(row.base);
  const double to = Median(row.newer);
  return absl::StrCat(
      with_subject ? absl::StrCat(SubjectName(place.subject->subject), " ")
                   : "",
      TitleOf(row.outcome), " ", Printed(from, row.outcome.unit), " -> ",
      Printed(to, row.outcome.unit), " (", PrintedChange(from, to), ", ",
      PText(row.judgement), ")");
}

// Those whose change is shown and is of that verdict, the largest first.
std::vector<Place> Shown(const Comparison& comparison, bool judged,
                         int verdict) {
  std::vector<Place> places;
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const ComparedOutcome& row : subject.outcomes) {
      if (row.judged == judged && row.Verdict() == verdict) {
        places.push_back({&subject, &row});
      }
    }
  }
  // A change from or to 0 is the largest there is.
  const auto size = [](const Place& place) {
    const std::optional<double>& ratio = place.row->judgement.ratio;
    return ratio.has_value() ? std::abs(std::log(*ratio)) : 1e9;
  };
  std::stable_sort(
      places.begin(), places.end(),
      [&size](const Place& a, const Place& b) { return size(a) > size(b); });
  return places;
}

std::string PlacesText(const std::vector<Place>& places) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(places.size(), kNamed); ++i) {
    const bool same_subject =
        i > 0 && places[i].subject == places[i - 1].subject;
    texts.push_back(PlaceText(places[i], !same_subject));
  }
  std::string text = absl::StrJoin(texts, ", ");
  if (places.size() > kNamed) {
    absl::StrAppend(&text, " and ", places.size() - kNamed, " more");
  }
  return text;
}

Direction DirectionOf(const Subject& subject) {
  const std::string name = SubjectName(subject);
  for (const absl::string_view word : {"read", "load"}) {
    if (absl::StrContains(name, word)) return Direction::kIn;
  }
  for (const absl::string_view word : {"write", "store"}) {
    if (absl::StrContains(name, word)) return Direction::kOut;
  }
  return Direction::kEither;
}

// What would have been seen, by judged outcome.
std::string DetectableText(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const ComparedSubject& subject : comparison.subjects) {
    bool first = true;
    for (const ComparedOutcome& row : subject.outcomes) {
      if (!row.judged || !row.judgement.detectable.has_value()) continue;
      const std::string change = PrintedChange(1, *row.judgement.detectable);
      texts.push_back(absl::StrCat(
          first ? absl::StrCat(SubjectName(subject.subject), " ") : "",
          TitleOf(row.outcome), " ",
          change == "same" ? change : change.substr(1)));
      first = false;
    }
  }
  return absl::StrJoin(texts, ", ");
}

std::string NoDifferenceText(const Comparison& comparison) {
  std::optional<Place> least;
  size_t tested = 0;
  std::vector<std::string> within;
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const ComparedOutcome& row : subject.outcomes) {
      if (!row.judged || !row.judgement.p.has_value()) continue;
      ++tested;
      if (!least.has_value() || *row.judgement.p < *least->row->judgement.p) {
        least = Place{&subject, &row};
      }
      if (row.judgement.p_adjusted <= kSignificance) {
        within.push_back(PlaceText({&subject, &row}, true));
      }
    }
  }
  if (!least.has_value()) {
    return "what is judged is the same in all runs";
  }
  std::string text;
  if (!within.empty()) {
    text = absl::StrCat(
        absl::StrJoin(within, ", "), within.size() == 1 ? " is" : " are",
        " not shown to exceed the margin of ", Percent(kMargin));
  } else {
    text = absl::StrCat("the smallest p of ", tested, " is that of ",
                        PlaceText(*least, true));
  }
  const std::string detectable = DetectableText(comparison);
  if (!detectable.empty()) {
    absl::StrAppend(&text,
                    "; seen four times in five would have been: ", detectable);
  }
  return text;
}

// Subjects that both sides have although nothing of them can be judged, and
// why.
std::vector<std::string> WhyNothingIsJudged(const Comparison& comparison) {
  std::vector<std::string> reasons;
  for (const ComparedSubject& subject : comparison.subjects) {
    for (const std::string& note : subject.notes) {
      reasons.push_back(
          absl::StrCat(SubjectName(subject.subject), ": ",
                       note.substr(0, note.find(": shown, not tested"))));
    }
    if (subject.subject.kind == Kind::kLock &&
        absl::StrContains(subject.detail, "->")) {
      reasons.push_back(absl::StrCat(
          SubjectName(subject.subject), ": different locks (", subject.detail,
          "), and neither the command nor the operations' latency says what "
          "came of it"));
    }
  }
  if (reasons.empty()) {
    reasons.emplace_back(
        comparison.subjects.empty()
            ? "nothing was measured on either side"
            : "no operation or lock was measured on both sides");
  }
  return reasons;
}

void Refuse(Comparison* out) {
  out->finding = Finding::kNotComparable;
  out->sentence = absl::StrJoin(out->grounds.refusals, "; ");
  for (ComparedSubject& subject : out->subjects) {
    for (ComparedOutcome& row : subject.outcomes) {
      row.judged = false;
      row.judgement.p.reset();
    }
  }
  if (!out->forced) out->subjects.clear();
}

// That fewer runs suffice when everything changes, but not when one does.
std::string AloneText(size_t tested, double smallest_p) {
  const double alone = kSignificance / static_cast<double>(tested);
  if (tested < 2 || smallest_p <= alone) return "";
  return absl::StrCat("for one of the ", tested,
                      " judged outcomes to be shown alone, ", FewestRuns(alone),
                      " runs of each are needed");
}

void AddBesides(int verdict, Comparison* out) {
  const std::vector<Place> places = Shown(*out, false, verdict);
  if (places.empty()) return;
  out->remarks.push_back(
      absl::StrCat(verdict > 0 ? "worse" : "better",
                   " besides, not judged: ", PlacesText(places)));
}

void Conclude(const Runs& base, const Runs& newer,
              const std::vector<ComparedOutcome*>& judged, Comparison* out) {
  const double smallest_p = SmallestRankTestP(base.size(), newer.size());
  if (smallest_p > kSignificance) {
    out->finding = Finding::kNotEnoughRuns;
    out->sentence =
        absl::StrCat(base.size(), " base and ", newer.size(),
                     " new; with fewer than ", FewestRuns(kSignificance),
                     " of each no difference can be shown (p is at least ",
                     absl::StrFormat("%.2g", smallest_p), ")");
    return;
  }
  std::vector<Judgement*> first;
  for (ComparedOutcome* row : judged) first.push_back(&row->judgement);
  Adjust(first);
  std::vector<Judgement*> second;
  for (ComparedSubject& subject : out->subjects) {
    for (ComparedOutcome& row : subject.outcomes) {
      if (!row.judged) second.push_back(&row.judgement);
    }
  }
  Adjust(second);

  const std::vector<Place> worse = Shown(*out, true, 1);
  const std::vector<Place> better = Shown(*out, true, -1);
  if (worse.empty() && better.empty()) {
    out->finding = Finding::kNoDifference;
    out->sentence = NoDifferenceText(*out);
    AddBesides(1, out);
    AddBesides(-1, out);
  } else if (better.empty() || worse.empty()) {
    const std::vector<Place>& places = worse.empty() ? better : worse;
    out->finding = worse.empty() ? Finding::kBetter : Finding::kWorse;
    out->sentence = PlacesText(places);
    out->cause = CauseOf(base, newer, DirectionOf(places[0].subject->subject),
                         better.empty());
    AddBesides(worse.empty() ? 1 : -1, out);
  } else {
    out->finding = Finding::kMixed;
    out->sentence = absl::StrCat("worse: ", PlacesText(worse),
                                 "; better: ", PlacesText(better));
    out->cause =
        CauseOf(base, newer, DirectionOf(worse[0].subject->subject), true);
  }
  const auto tested = static_cast<size_t>(
      std::count_if(first.begin(), first.end(),
                    [](const Judgement* j) { return j->p.has_value(); }));
  if (std::string text = AloneText(tested, smallest_p); !text.empty()) {
    out->remarks.push_back(std::move(text));
  }
}

// More operations at a lower rate of slow ones: users feel the number.
void NoteRatesAgainstCounts(ComparedSubject* subject) {
  const auto find = [subject](absl::string_view metric) -> ComparedOutcome* {
    for (ComparedOutcome& row : subject->outcomes) {
      if (row.outcome.metric == metric) return &row;
    }
    return nullptr;
  };
  const ComparedOutcome* count = find("latency_over_10ms");
  const ComparedOutcome* rate = find(kOver10Ms);
  if (count == nullptr || rate == nullptr) return;
  if (count->judgement.direction * rate->judgement.direction >= 0) return;
  AddNote(
      "per operation and per run they go opposite ways: the number of "
      "operations changed",
      subject);
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
    const Sights sights(subject, Of(from, subject), Of(to, subject),
                        losses.untested, losses.holds_untested);
    out.subjects.push_back(CompareSubject(subject, sights));
    NoteRatesAgainstCounts(&out.subjects.back());
  }

  const bool same_length = SameLength(out.base_ns, out.new_ns);
  if (!same_length) {
    out.remarks.push_back(absl::StrCat(
        "runs last ",
        Printed(static_cast<double>(out.base_ns), Unit::kNanoseconds), " and ",
        Printed(static_cast<double>(out.new_ns), Unit::kNanoseconds),
        ": totals, counts and maxima grow with that, and maxima are not "
        "judged"));
  }
  const std::vector<ComparedOutcome*> judged =
      ChooseJudged(!arms.name.empty(), same_length, &out);
  if (refusals.empty() && judged.empty()) refusals = WhyNothingIsJudged(out);
  if (!refusals.empty()) {
    out.forced = rules.force;
    Refuse(&out);
  } else {
    Conclude(base, newer, judged, &out);
  }
  return out;
}

}  // namespace swaplock
