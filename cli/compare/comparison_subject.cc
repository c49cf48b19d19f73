#include "cli/compare/comparison_subject.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

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
  names.reserve(models.size());
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
  names.reserve(tiers.size());
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
    if (subject_.kind == Subject::Kind::kMeasurement) return "";
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
    if (subject_.kind == Subject::Kind::kMeasurement) {
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

ComparedSubject CompareSubject(const Subject& subject,
                               std::vector<const SubjectNumbers*> base,
                               std::vector<const SubjectNumbers*> newer,
                               const Losses& losses) {
  const Sights sights(subject, std::move(base), std::move(newer),
                      losses.untested, losses.holds_untested);
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
  NoteRatesAgainstCounts(&out);
  return out;
}

}  // namespace swaplock
