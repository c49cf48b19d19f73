#include "server/verdict/verdict_words.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace swaplock {
namespace {

constexpr char kNone[] = "-";

// One side of an interval.
std::string BoundText(double bound) {
  return std::isinf(bound) ? "any" : absl::StrFormat("%.3g", bound);
}

}  // namespace

std::string EffectText(const Effect& effect) {
  if (std::isnan(effect.ratio)) return kNone;
  std::string text = absl::StrFormat("%.3g", effect.ratio);
  if (!std::isnan(effect.lower) && !std::isnan(effect.upper)) {
    absl::StrAppend(&text, " (", BoundText(effect.lower), " to ",
                    BoundText(effect.upper), ")");
  }
  return text;
}

std::string PText(double p, bool exact) {
  // It is never 0: that would be no p.
  if (std::isnan(p) || p <= 0) return kNone;
  return absl::StrFormat("%s%.2g", exact ? "" : "~", p);
}

std::string CountText(double count) {
  if (!std::isfinite(count) || count < 0 || count >= 1e18) return kNone;
  const std::string digits = absl::StrCat(std::llround(count));
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string PercentText(double share) {
  return std::isfinite(share) ? absl::StrFormat("%.3g %%", 100 * share) : kNone;
}

std::string DayText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d", time, absl::UTCTimeZone());
}

std::string DayText(int64_t day) {
  // Beyond it no calendar goes.
  if (day < -1'000'000 || day > 1'000'000) return kNone;
  return DayText(absl::UnixEpoch() + day * absl::Hours(24));
}

std::string KernelsText(const std::string& base, const std::string& newer) {
  return base == newer ? absl::StrCat(base, " over time")
                       : absl::StrCat(base, " -> ", newer);
}

absl::string_view ShortName(VerdictOutcome outcome) {
  switch (outcome) {
    case VerdictOutcome::kWaitsOver10ms:
      return "waits >10 ms";
    case VerdictOutcome::kRunnable:
      return "runnable holds";
    case VerdictOutcome::kContended:
      return "contended";
    case VerdictOutcome::kWaitsOver1ms:
      return "waits >1 ms";
    case VerdictOutcome::kWaitsOver100ms:
      return "waits >100 ms";
    case VerdictOutcome::kWaitsOver10msPerHour:
      return "waits >10 ms an hour";
    case VerdictOutcome::kSlowOperations:
      return "operations >10 ms";
  }
  return kNone;
}

std::string OperationText(const VerdictRecord& record) {
  return absl::StrCat(Name(record.subsystem), " ", Name(record.operation));
}

absl::string_view DesignText(Design design) {
  switch (design) {
    case Design::kBeforeAfterWithControls:
      return "before and after, with hosts not upgraded beside it";
    case Design::kParallelGroups:
      return "different hosts side by side";
    case Design::kBeforeAfter:
      return "before and after alone";
    case Design::kChangePoint:
      return "one group of hosts over time";
  }
  return kNone;
}

std::string MarkText(const VerdictMark& mark) {
  std::string text(Name(mark.state));
  if (mark.state == VerdictState::kNew) return text;
  if (!mark.by.empty()) absl::StrAppend(&text, " by ", mark.by);
  if (mark.state == VerdictState::kSuppressed &&
      mark.until != absl::InfiniteFuture()) {
    absl::StrAppend(&text, " until ",
                    absl::FormatTime("%Y-%m-%d %H:%M UTC", mark.until,
                                     absl::UTCTimeZone()));
  }
  if (!mark.reason.empty()) absl::StrAppend(&text, ": ", mark.reason);
  return text;
}

std::string AlertText(const StoredVerdict& verdict) {
  std::string text = verdict.alerts ? "alerts" : "no alert";
  if (!verdict.alerts && !verdict.silent_because.empty()) {
    absl::StrAppend(&text, ": ", verdict.silent_because);
  }
  if (verdict.incident > 0) {
    absl::StrAppend(&text, "; incident ", verdict.incident);
  }
  return text;
}

}  // namespace swaplock
