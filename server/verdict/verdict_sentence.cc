#include "server/verdict/verdict_sentence.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"

namespace swaplock {
namespace {

std::string Subject(const VerdictRecord& r) {
  return absl::StrCat(Name(r.subsystem), " ", Name(r.operation));
}

std::string Hosts(const VerdictRecord& r) {
  switch (r.design) {
    case Design::kBeforeAfterWithControls:
      return absl::StrFormat("%d upgraded hosts and %d that were not",
                             r.treated.hosts, r.controls.hosts);
    case Design::kParallelGroups:
      return absl::StrFormat("%d hosts against %d others", r.treated.hosts,
                             r.controls.hosts);
    case Design::kChangePoint:
      return absl::StrFormat("%d hosts", r.treated.hosts);
    default:
      return absl::StrFormat("%d hosts before and after, none to compare with",
                             r.treated.hosts);
  }
}

// "0.98", "5.6", "120": three digits are enough for anybody.
std::string Ratio(double ratio) {
  if (std::isinf(ratio)) return ratio > 0 ? "any" : "0";
  return absl::StrFormat("%.3g", ratio);
}

std::string Together(const VerdictRecord& r) {
  if (r.co_changes.empty()) return "";
  return absl::StrCat(" (together with ", absl::StrJoin(r.co_changes, ", "),
                      ")");
}

// Where one of an upgraded host's kernels has none at all, the ratio is made of
// the half event that is added, and says nothing.
std::string FromOrToNone(const VerdictRecord& r) {
  const ArmTotals& t = r.treated;
  if (r.design != Design::kBeforeAfterWithControls ||
      (t.events_before > 0) == (t.events_after > 0) ||
      !(t.operations_before > 0) || !(t.operations_after > 0)) {
    return "";
  }
  const char* const unit = r.outcome == VerdictOutcome::kRunnable ? " ms" : "";
  return t.events_after > 0
             ? absl::StrFormat("went from none to %.3g%s per million",
                               1e6 * t.events_after / t.operations_after, unit)
             : absl::StrFormat("went from %.3g%s per million to none",
                               1e6 * t.events_before / t.operations_before,
                               unit);
}

// What made it, where that is the runnable part.
std::string Cause(const VerdictRecord& r) {
  if (!RunnablePartMadeIt(r)) return "";
  return absl::StrFormat(
      " Cause: holders of the lock were runnable and not running for %.0f %% "
      "of "
      "the time they held it, before the upgrade for %.0f %%.",
      100 * r.runnable_share_after, 100 * r.runnable_share_before);
}

std::string DriftSentence(const VerdictRecord& r) {
  if (!r.change.has_value()) {
    return absl::StrFormat("%s, %s, %s: %s.", r.kernel_new, Subject(r),
                           Phrase(r.outcome), r.reason);
  }
  return absl::StrFormat("On %s%s %s changed about %s: %s; %s.", r.kernel_new,
                         Together(r), Subject(r), ChangeInWords(*r.change),
                         EffectInWords(r), r.reason);
}

}  // namespace

bool RunnablePartMadeIt(const VerdictRecord& r) {
  const double before = r.runnable_share_before;
  const double after = r.runnable_share_after;
  if (std::isnan(before) || std::isnan(after)) return false;
  switch (r.kind) {
    case VerdictKind::kRegression:
      return after > 0.2 && after > 2 * before;
    case VerdictKind::kImprovement:
      return before > 0.2 && before > 2 * after;
    default:
      return false;
  }
}

std::string EffectInWords(const VerdictRecord& r) {
  std::string p;
  if (r.sequential.alarm.has_value()) {
    p = absl::StrFormat("%d pairs, sequential p = %.2g", r.sequential.pairs,
                        std::min(r.sequential.p_worse, r.sequential.p_better));
  }
  if (std::isfinite(r.p_worse)) {
    absl::StrAppend(&p, p.empty() ? "" : "; ", "p = ",
                    absl::StrFormat("%.2g", std::min(r.p_worse, r.p_better)));
  }
  if (const std::string none = FromOrToNone(r); !none.empty()) {
    return absl::StrFormat("%s %s (%s, %s)", Phrase(r.outcome), none, Hosts(r),
                           p);
  }
  return absl::StrFormat(
      "%s times as %s %s (90 %% interval %s to %s, %s, %s)",
      Ratio(r.effect.ratio),
      r.outcome == VerdictOutcome::kRunnable ? "much" : "many",
      Phrase(r.outcome), Ratio(r.effect.lower), Ratio(r.effect.upper), Hosts(r),
      p);
}

std::string DayInWords(int64_t day) {
  return absl::FormatCivilTime(absl::CivilDay(1970, 1, 1) + day);
}

std::string ChangeInWords(const ChangeDays& change) {
  if (change.first == change.last) return DayInWords(change.day);
  return absl::StrCat(DayInWords(change.day), " (", DayInWords(change.first),
                      " to ", DayInWords(change.last), ")");
}

std::string SentenceOf(const VerdictRecord& r) {
  if (r.design == Design::kChangePoint) return DriftSentence(r);
  switch (r.kind) {
    case VerdictKind::kRegression:
    case VerdictKind::kImprovement:
      return absl::StrFormat(
          "%s%s is %s than %s for %s: %s.%s", r.kernel_new, Together(r),
          r.kind == VerdictKind::kRegression ? "worse" : "better",
          r.kernel_base, Subject(r), EffectInWords(r), Cause(r));
    case VerdictKind::kNoMaterialChange:
      return absl::StrFormat("%s%s and %s do not differ for %s: %s.",
                             r.kernel_new, Together(r), r.kernel_base,
                             Subject(r), EffectInWords(r));
    case VerdictKind::kMixed:
      return absl::StrFormat(
          "%s%s is neither better nor worse than %s for "
          "%s: %s; %s.",
          r.kernel_new, Together(r), r.kernel_base, Subject(r), r.reason,
          EffectInWords(r));
    case VerdictKind::kSuspect:
      return absl::StrFormat("%s%s may differ from %s for %s: %s; %s.",
                             r.kernel_new, Together(r), r.kernel_base,
                             Subject(r), r.reason, EffectInWords(r));
    case VerdictKind::kNotComparable:
      return absl::StrFormat("%s cannot be compared with %s for %s, %s: %s.",
                             r.kernel_new, r.kernel_base, Subject(r),
                             Phrase(r.outcome), r.reason);
    case VerdictKind::kDataQuality:
      return absl::StrFormat(
          "The data do not allow a verdict on %s against %s "
          "for %s, %s: %s.",
          r.kernel_new, r.kernel_base, Subject(r), Phrase(r.outcome), r.reason);
    default:
      return absl::StrFormat(
          "It is open whether %s differs from %s for %s, "
          "%s: %s.",
          r.kernel_new, r.kernel_base, Subject(r), Phrase(r.outcome), r.reason);
  }
}

}  // namespace swaplock
