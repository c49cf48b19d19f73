#include "cli/compare/comparison_finding.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/compare/comparison_cause.h"
#include "cli/report/printed_number.h"
#include "server/verdict/rank_test.h"

namespace swaplock {
namespace {

using Kind = Subject::Kind;

// Runs whose lengths differ by more have not had the same chances of a maximum.
constexpr double kSameLength = 1.2;
// How many outcomes a sentence names.
constexpr size_t kNamed = 3;

bool SameLength(uint64_t a, uint64_t b) {
  return static_cast<double>(std::max(a, b)) <=
         static_cast<double>(std::min(a, b)) * kSameLength;
}

bool Judged(Kind kind, absl::string_view metric, bool rates, bool same_length) {
  if (metric == kRate) return rates;
  if (metric == kSlowest || metric == "wait_max_ns") return same_length;
  return metric == kOver10Ms || (kind == Kind::kLock && metric == kContended);
}

// Marks the outcomes that the finding is made of: of the first kind of subject
// that has any.
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

// Fewer operations have fewer slow ones: that is no news besides their rate.
bool GrowsWithOperations(const Outcome& outcome) {
  return outcome.unit == Unit::kCount ||
         absl::EndsWith(outcome.metric, "total_ns");
}

void AddBesides(int verdict, Comparison* out) {
  std::vector<Place> places = Shown(*out, false, verdict);
  places.erase(std::remove_if(places.begin(), places.end(),
                              [](const Place& place) {
                                return GrowsWithOperations(place.row->outcome);
                              }),
               places.end());
  if (places.empty()) return;
  out->remarks.push_back(
      absl::StrCat(verdict > 0 ? "worse" : "better",
                   " besides, not judged: ", PlacesText(places)));
}

void Find(const Runs& base, const Runs& newer,
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
  first.reserve(judged.size());
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

}  // namespace

void Conclude(const Runs& base, const Runs& newer, bool force,
              Comparison* comparison) {
  const bool same_length = SameLength(comparison->base_ns, comparison->new_ns);
  if (!same_length) {
    comparison->remarks.push_back(absl::StrCat(
        "runs last ",
        Printed(static_cast<double>(comparison->base_ns), Unit::kNanoseconds),
        " and ",
        Printed(static_cast<double>(comparison->new_ns), Unit::kNanoseconds),
        ": totals, counts and maxima grow with that, and maxima are not "
        "judged"));
  }
  const std::vector<ComparedOutcome*> judged =
      ChooseJudged(!comparison->name.empty(), same_length, comparison);
  std::vector<std::string>& refusals = comparison->grounds.refusals;
  if (refusals.empty() && judged.empty()) {
    refusals = WhyNothingIsJudged(*comparison);
  }
  if (!refusals.empty()) {
    comparison->forced = force;
    Refuse(comparison);
  } else {
    Find(base, newer, judged, comparison);
  }
}

}  // namespace swaplock
