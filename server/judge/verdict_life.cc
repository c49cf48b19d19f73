#include "server/judge/verdict_life.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/kernel_release.h"
#include "server/verdict/verdict_message.h"

namespace swaplock {
namespace {

constexpr absl::Duration kClosedIncidents = absl::Hours(24 * 90);

bool SamePair(const KernelPair& a, const KernelPair& b) {
  return a.base == b.base && a.newer == b.newer;
}

KernelPair PairOf(const StoredVerdict& verdict) {
  return {verdict.record.kernel_base, verdict.record.kernel_new};
}

bool IsBad(VerdictKind kind) {
  return kind == VerdictKind::kRegression || kind == VerdictKind::kMixed;
}

// By pair (older kernels first), operation, outcome.
bool ComesBefore(const StoredVerdict& a, const StoredVerdict& b) {
  const int newer =
      CompareKernelReleases(a.record.kernel_new, b.record.kernel_new);
  if (newer != 0) return newer < 0;
  const int base =
      CompareKernelReleases(a.record.kernel_base, b.record.kernel_base);
  if (base != 0) return base < 0;
  return SubjectOf(a.record) < SubjectOf(b.record);
}

uint64_t NextId(const std::vector<StoredVerdict>& verdicts) {
  uint64_t last = 0;
  for (const StoredVerdict& v : verdicts) last = std::max(last, v.id);
  return last + 1;
}

StoredVerdict* Find(const KernelPair& pair, const SubjectKey& subject,
                    VerdictBook* book) {
  for (StoredVerdict& verdict : book->verdicts) {
    if (SamePair(PairOf(verdict), pair) &&
        SubjectOf(verdict.record) == subject) {
      return &verdict;
    }
  }
  return nullptr;
}

// Puts the record in; whether that made a new version.
bool TakeRecord(const VerdictRecord& record, const Evaluation& evaluation,
                const std::string& went_away, StoredVerdict* verdict) {
  const bool first = verdict->version == 0;
  const bool changed = first || Serialize(record) != Serialize(verdict->record);
  if (first) verdict->first_judged = evaluation.judged;
  if (first || record.kind != verdict->record.kind) {
    verdict->since = evaluation.judged;
    if (verdict->mark.state == VerdictState::kAcknowledged) {
      verdict->mark = VerdictMark();
    }
  }
  verdict->judged = evaluation.judged;
  verdict->went_away = went_away;
  if (!changed) return false;
  ++verdict->version;
  verdict->record = record;
  verdict->engine = evaluation.engine;
  verdict->evaluation = evaluation.id;
  verdict->first_day = evaluation.first_day;
  verdict->last_day = evaluation.last_day;
  return true;
}

void TakePair(const Evaluation& evaluation, VerdictBook* book) {
  // A kernel's hosts over time are no pair.
  if (evaluation.input.pair.base == evaluation.input.pair.newer) return;
  JudgedPair judged;
  judged.pair = evaluation.input.pair;
  judged.chosen_because = evaluation.input.because;
  judged.ended = evaluation.ended;
  judged.look = evaluation.look;
  judged.hosts_upgraded = evaluation.hosts_upgraded;
  judged.hosts_waiting = evaluation.hosts_waiting;
  judged.controls = evaluation.controls;
  judged.last_day = evaluation.last_day;
  judged.judged = evaluation.judged;
  judged.holdback = evaluation.holdback;
  for (JudgedPair& pair : book->pairs) {
    if (!SamePair(pair.pair, judged.pair)) continue;
    pair = std::move(judged);
    return;
  }
  book->pairs.push_back(std::move(judged));
}

// Why a finding does not alert; empty when it does.
std::string WhySilent(const StoredVerdict& verdict, const VerdictBook& book) {
  switch (verdict.mark.state) {
    case VerdictState::kAcknowledged:
      return absl::StrCat("acknowledged by ", verdict.mark.by);
    case VerdictState::kSuppressed:
      return absl::StrCat("suppressed by ", verdict.mark.by, ": ",
                          verdict.mark.reason);
    case VerdictState::kNew:
      break;
  }
  if (!verdict.went_away.empty()) return "it went away";
  for (const SelfTestResult& result : book.self_test.false_alarms) {
    if (!result.broken || result.operation != SubjectOf(verdict.record).first ||
        result.outcome != verdict.record.outcome) {
      continue;
    }
    return absl::StrCat("in the self-test ", result.rejected, " of ",
                        result.splits,
                        " comparisons of equal kernels found a difference");
  }
  return "";
}

// Whether the verdict keeps the incident of its pair open.
bool IsOpen(const StoredVerdict& verdict) {
  return IsBad(verdict.record.kind) &&
         (verdict.alerts ||
          verdict.mark.state == VerdictState::kAcknowledged) &&
         verdict.went_away.empty();
}

void RefreshIncidents(absl::Time now, VerdictBook* book,
                      std::set<uint64_t>* changed_verdicts,
                      VerdictChanges* changes) {
  uint64_t last_id = 0;
  for (const Incident& incident : book->incidents) {
    last_id = std::max(last_id, incident.id);
  }
  std::vector<Incident*> open;
  for (Incident& incident : book->incidents) {
    if (incident.closed > now) open.push_back(&incident);
  }
  std::set<uint64_t> touched;
  std::vector<Incident> opened;
  for (Incident* incident : open) incident->verdicts.clear();
  for (StoredVerdict& verdict : book->verdicts) {
    const uint64_t before = verdict.incident;
    verdict.incident = 0;
    if (IsOpen(verdict)) {
      Incident* incident = nullptr;
      for (Incident* candidate : open) {
        if (SamePair(candidate->pair, PairOf(verdict))) incident = candidate;
      }
      for (Incident& candidate : opened) {
        if (SamePair(candidate.pair, PairOf(verdict))) incident = &candidate;
      }
      if (incident == nullptr) {
        opened.emplace_back();
        incident = &opened.back();
        incident->id = ++last_id;
        incident->pair = PairOf(verdict);
        incident->opened = now;
        touched.insert(incident->id);
      }
      incident->verdicts.push_back(verdict.id);
      verdict.incident = incident->id;
    }
    if (verdict.incident != before) changed_verdicts->insert(verdict.id);
  }
  for (Incident& incident : opened) {
    book->incidents.push_back(std::move(incident));
  }
  for (Incident& incident : book->incidents) {
    if (incident.closed <= now) continue;
    std::string sentence = incident.sentence;
    if (incident.verdicts.empty()) {
      incident.closed = now;
      touched.insert(incident.id);
    } else {
      const StoredVerdict* worst = nullptr;
      for (const uint64_t id : incident.verdicts) {
        const StoredVerdict* v = FindVerdict(*book, id);
        if (worst == nullptr ||
            v->record.effect.ratio > worst->record.effect.ratio) {
          worst = v;
        }
      }
      sentence = worst->record.sentence;
    }
    if (sentence != incident.sentence) touched.insert(incident.id);
    incident.sentence = std::move(sentence);
  }
  for (const Incident& incident : book->incidents) {
    if (touched.count(incident.id) > 0) changes->incidents.push_back(incident);
  }
  auto& all = book->incidents;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [now](const Incident& incident) {
                             return incident.closed < now - kClosedIncidents;
                           }),
            all.end());
  std::stable_sort(
      all.begin(), all.end(),
      [](const Incident& a, const Incident& b) { return a.opened > b.opened; });
}

// Adds the verdicts of `ids`, as they are now, to those that are stored.
void AddVerdicts(const VerdictBook& book, const std::set<uint64_t>& ids,
                 VerdictChanges* changes) {
  std::vector<StoredVerdict> out;
  for (const StoredVerdict& verdict : book.verdicts) {
    if (ids.count(verdict.id) > 0) out.push_back(verdict);
  }
  changes->verdicts = std::move(out);
}

// Refreshes the book and stores `ids` too.
void Finish(absl::Time now, std::set<uint64_t> ids, VerdictBook* book,
            VerdictChanges* changes) {
  VerdictChanges more = Refresh(now, book);
  for (const StoredVerdict& verdict : more.verdicts) ids.insert(verdict.id);
  changes->incidents = std::move(more.incidents);
  AddVerdicts(*book, ids, changes);
}

}  // namespace

VerdictBook Restored(const StoredBook& stored) {
  VerdictBook book = stored.book;
  std::stable_sort(book.verdicts.begin(), book.verdicts.end(), ComesBefore);
  for (const Evaluation& evaluation : stored.evaluations) {
    TakePair(evaluation, &book);
  }
  return book;
}

VerdictChanges Refresh(absl::Time now, VerdictBook* book) {
  VerdictChanges changes;
  std::set<uint64_t> changed;
  for (StoredVerdict& verdict : book->verdicts) {
    if (verdict.mark.state == VerdictState::kSuppressed &&
        verdict.mark.until <= now) {
      verdict.mark = VerdictMark();
      changed.insert(verdict.id);
    }
    const bool bad = IsBad(verdict.record.kind);
    verdict.silent_because = bad ? WhySilent(verdict, *book) : "";
    verdict.alerts = bad && verdict.silent_because.empty();
  }
  RefreshIncidents(now, book, &changed, &changes);
  AddVerdicts(*book, changed, &changes);
  return changes;
}

VerdictChanges TakeEvaluation(const Evaluated& evaluated, VerdictBook* book) {
  const Evaluation& evaluation = evaluated.evaluation;
  VerdictChanges changes;
  std::set<uint64_t> ids;
  for (const VerdictRecord& record : evaluated.records) {
    StoredVerdict* verdict =
        Find(evaluation.input.pair, SubjectOf(record), book);
    // That a group of hosts kept its level is told where it was in doubt.
    const bool nothing = record.design == Design::kChangePoint &&
                         record.kind == VerdictKind::kInconclusive;
    if (verdict == nullptr && nothing) continue;
    if (verdict == nullptr) {
      const uint64_t id = NextId(book->verdicts);
      verdict = &book->verdicts.emplace_back();
      verdict->id = id;
    }
    const auto gone = evaluated.went_away.find(SubjectOf(record));
    if (TakeRecord(record, evaluation,
                   gone == evaluated.went_away.end() ? "" : gone->second,
                   verdict)) {
      changes.new_versions.insert(verdict->id);
    }
    ids.insert(verdict->id);
  }
  std::stable_sort(book->verdicts.begin(), book->verdicts.end(), ComesBefore);
  TakePair(evaluation, book);
  book->judged = std::max(book->judged, evaluation.judged);
  if (!changes.new_versions.empty()) changes.evaluation = evaluation;
  Finish(evaluation.judged, std::move(ids), book, &changes);
  return changes;
}

VerdictChanges TakeSelfTest(const SelfTestReport& report, absl::Time now,
                            VerdictBook* book) {
  VerdictChanges changes;
  changes.self_test = report;
  book->self_test = report;
  Finish(now, {}, book, &changes);
  return changes;
}

VerdictChanges TakeMark(uint64_t id, const VerdictMark& mark, absl::Time now,
                        VerdictBook* book) {
  VerdictChanges changes;
  for (StoredVerdict& verdict : book->verdicts) {
    if (verdict.id == id) verdict.mark = mark;
  }
  Finish(now, {id}, book, &changes);
  return changes;
}

}  // namespace swaplock
