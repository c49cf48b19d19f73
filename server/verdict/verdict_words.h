// The small pieces of text that verdicts are shown with, the same on a terminal
// and on a page. What does not exist is "-".
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_WORDS_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

// "1.85 (1.42 to 2.4)"; "any" for a side without bound.
std::string EffectText(const Effect& effect);
// "0.00012"; "~0.0001" when it was sampled.
std::string PText(double p, bool exact = true);
// "1,234,567", rounded.
std::string CountText(double count);
// "12.5 %" of a share.
std::string PercentText(double share);
// "2026-11-28", of a day since 1970 UTC, or the day of a time.
std::string DayText(int64_t day);
std::string DayText(absl::Time time);

// "6.12.57 -> 6.18.15"; "6.18.15 over time" of a kernel with itself.
std::string KernelsText(const std::string& base, const std::string& newer);

// "waits >10 ms", "runnable", "contended": for a column.
absl::string_view ShortName(VerdictOutcome outcome);
// "zram read"
std::string OperationText(const VerdictRecord& record);
// "before and after, with hosts not upgraded" ...
absl::string_view DesignText(Design design);

// "new", "acknowledged by ops", "suppressed by ops until 2026-12-05"; with the
// reason after a colon.
std::string MarkText(const VerdictMark& mark);
// "alerts, incident 3"; "no alert: it is acknowledged"; "no alert" for what
// flags nothing.
std::string AlertText(const StoredVerdict& verdict);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_WORDS_H_
