#include "server/judge/evaluation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/judge/look_plan.h"
#include "server/judge/rollout_hash.h"
#include "server/verdict/cohort_drift.h"
#include "server/verdict/judge_rollout.h"
#include "server/verdict/rollout_windows.h"
#include "server/verdict/seeded_random.h"
#include "server/verdict/verdict_sentence.h"

namespace swaplock {
namespace {

constexpr int64_t kRecentDays = 7;

// One day's judgement, before it is confirmed.
struct Judged {
  Rollout rollout;
  LookPlan plan;
  RolloutRules rules;
  RolloutVerdicts verdicts;
};

class Evaluator {
 public:
  Evaluator(EvidenceReader* reader, const EvaluationInput& input)
      : reader_(reader), input_(input) {}

  absl::StatusOr<Evaluated> Run() {
    absl::StatusOr<Judged> judged = Judge(input_.today);
    if (!judged.ok()) return judged.status();
    Evaluated out;
    out.records = judged->verdicts.verdicts;
    if (absl::Status s = ConfirmByDayBefore(*judged, &out.records); !s.ok()) {
      return s;
    }
    if (!judged->plan.ended && judged->plan.look_day.has_value()) {
      absl::Status s = LetStand(*judged->plan.look_day + 1, &out.records);
      if (!s.ok()) return s;
    }
    if (absl::Status s = LookAtRecentDays(*judged, &out); !s.ok()) return s;
    Describe(*judged, &out.evaluation);
    return out;
  }

 private:
  absl::StatusOr<Rollout> RolloutBy(int64_t day, bool boots_only = false) {
    RolloutWindows windows;
    windows.boots_only = boots_only;
    windows.without = input_.without;
    return RolloutOf(reader_, input_.pair.base, input_.pair.newer, day,
                     windows);
  }

  absl::StatusOr<Judged> Judge(int64_t day) {
    Judged out;
    const absl::StatusOr<Rollout> boots = RolloutBy(day, /*boots_only=*/true);
    if (!boots.ok()) return boots.status();
    out.plan = PlanLooks(boots->upgrade_days, DaysToClose(*boots),
                         input_.rules.min_hosts, day, input_.planned_end);
    absl::StatusOr<Rollout> rollout = RolloutBy(out.plan.as_of);
    if (!rollout.ok()) return rollout.status();
    out.rollout = *std::move(rollout);
    out.rules = input_.rules;
    out.rules.ended = out.plan.ended;
    out.rules.q_fixed *= out.plan.share;
    out.verdicts = JudgeRollout(out.rollout, out.rules);
    hash_ = HashOfRollout(out.rollout, hash_);
    return out;
  }

  // What the fixed look of this day says has to be what the day before said.
  absl::Status ConfirmByDayBefore(const Judged& judged,
                                  std::vector<VerdictRecord>* records) {
    const bool any = std::any_of(
        records->begin(), records->end(), [](const VerdictRecord& record) {
          return Flags(record.kind) && !record.sequential.alarm.has_value();
        });
    if (!any) return absl::OkStatus();
    const absl::StatusOr<Judged> before = Judge(judged.plan.as_of - 1);
    if (!before.ok()) return before.status();
    Confirm(before->verdicts.verdicts, records);
    return absl::OkStatus();
  }

  // A rollout that goes on takes nothing back by itself.
  absl::Status LetStand(int64_t day, std::vector<VerdictRecord>* records) {
    absl::StatusOr<Judged> then = Judge(day);
    if (!then.ok()) return then.status();
    std::vector<VerdictRecord>& found = then->verdicts.verdicts;
    if (absl::Status s = ConfirmByDayBefore(*then, &found); !s.ok()) return s;
    for (VerdictRecord& record : *records) {
      if (record.kind != VerdictKind::kInconclusive) continue;
      for (const VerdictRecord& earlier : found) {
        if (SubjectOf(earlier) != SubjectOf(record) || !Flags(earlier.kind)) {
          continue;
        }
        const SequentialEvidence sequential = record.sequential;
        record = earlier;
        record.sequential = sequential;
        record.findings.push_back(absl::StrCat(
            "This was found by ", DayInWords(then->plan.as_of),
            "; the rollout has gone on since and will be judged again."));
      }
    }
    return absl::OkStatus();
  }

  absl::Status LookAtRecentDays(const Judged& judged, Evaluated* out) {
    const bool any = std::any_of(
        out->records.begin(), out->records.end(),
        [](const VerdictRecord& record) { return Flags(record.kind); });
    // Days that the verdict itself rests on say nothing new.
    if (!any || input_.today - kRecentDays < judged.plan.as_of) {
      return absl::OkStatus();
    }
    RolloutWindows windows;
    windows.without = input_.without;
    windows.after_first_day = input_.today - kRecentDays + 1;
    const absl::StatusOr<Rollout> recent = RolloutOf(
        reader_, input_.pair.base, input_.pair.newer, input_.today, windows);
    if (!recent.ok()) return recent.status();
    RolloutRules rules = input_.rules;
    rules.ended = true;
    const RolloutVerdicts now = JudgeRollout(*recent, rules);
    for (const VerdictRecord& record : out->records) {
      if (!Flags(record.kind)) continue;
      for (const VerdictRecord& r : now.verdicts) {
        if (SubjectOf(r) != SubjectOf(record)) continue;
        // An improvement that wore off went away, too.
        const bool gone = record.effect.ratio >= 1
                              ? r.effect.upper < rules.margin
                              : r.effect.lower > 1 / rules.margin;
        if (!gone) continue;
        out->went_away[SubjectOf(record)] = absl::StrFormat(
            "In the 7 days to %s it is no longer seen: %.3g times as much as "
            "before the upgrade (%.3g to %.3g).",
            DayInWords(input_.today), r.effect.ratio, r.effect.lower,
            r.effect.upper);
      }
    }
    return absl::OkStatus();
  }

  void Describe(const Judged& judged, Evaluation* evaluation) const {
    evaluation->input = input_;
    evaluation->rows_hash = hash_;
    evaluation->ended = judged.plan.ended;
    evaluation->look = judged.plan.look;
    evaluation->hosts_waiting = judged.rollout.hosts_waiting;
    evaluation->hosts_upgraded = judged.rollout.upgrade_days.size();
    evaluation->holdback = judged.verdicts.holdback;
    evaluation->last_day = judged.plan.as_of;
    evaluation->first_day = judged.plan.as_of;
    for (const HostChange& host : judged.rollout.hosts) {
      evaluation->controls += host.arm == Arm::kControl;
      for (const auto* window : {&host.before, &host.after}) {
        if (!window->has_value()) continue;
        evaluation->first_day =
            std::min(evaluation->first_day, (*window)->first_day);
      }
    }
  }

  EvidenceReader* const reader_;
  const EvaluationInput& input_;
  uint64_t hash_ = kHashStart;
};

// A kernel with itself: its hosts over time.
absl::StatusOr<Evaluated> EvaluateCohort(EvidenceReader* reader,
                                         const EvaluationInput& input) {
  absl::StatusOr<CohortDrift> drift = JudgeCohort(
      reader, input.pair.newer, input.today, input.without, input.rules);
  if (!drift.ok()) return drift.status();
  Evaluated out;
  out.records = std::move(drift->records);
  out.evaluation.input = input;
  out.evaluation.rows_hash = drift->rows_hash;
  out.evaluation.first_day = drift->first_day;
  out.evaluation.last_day = drift->last_day;
  out.evaluation.controls = drift->hosts;
  return out;
}

}  // namespace

bool Flags(VerdictKind kind) {
  return kind == VerdictKind::kRegression ||
         kind == VerdictKind::kImprovement || kind == VerdictKind::kMixed;
}

SubjectKey SubjectOf(const VerdictRecord& record) {
  return {{record.subsystem, record.operation}, record.outcome};
}

absl::StatusOr<Evaluated> Evaluate(EvidenceReader* reader,
                                   const EvaluationInput& input) {
  if (input.pair.base == input.pair.newer) {
    return EvaluateCohort(reader, input);
  }
  return Evaluator(reader, input).Run();
}

}  // namespace swaplock
