// A verdict in one plain sentence.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_

#include <cstdint>
#include <string>

#include "server/verdict/verdict_record.h"

namespace swaplock {

// "2.1 times as many waits over 10 ms per operation (90 % interval 1.6 to 2.7,
// 130 upgraded hosts and 128 others, p = 0.0001)"; "waits over 10 ms per
// operation went from none to 5.4e+03 per million (...)"
std::string EffectInWords(const VerdictRecord& record);

// Whether a flagged change goes with one of the runnable part: a regression
// after which it is more than a fifth and twice the share of before, or the
// mirror image. The sentence then names it as the cause.
bool RunnablePartMadeIt(const VerdictRecord& record);

std::string SentenceOf(const VerdictRecord& record);

// "2026-11-28", of a day since 1970 UTC.
std::string DayInWords(int64_t day);
// "2026-11-12 (2026-11-10 to 2026-11-13)"
std::string ChangeInWords(const ChangeDays& change);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_
