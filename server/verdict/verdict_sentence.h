// A verdict in one plain sentence.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_

#include <string>

#include "server/verdict/verdict_record.h"

namespace swaplock {

// "2.1 times as many waits over 10 ms per operation (90 % interval 1.6 to 2.7,
// 130 upgraded hosts and 128 others, p = 0.0001)"
std::string EffectInWords(const VerdictRecord& record);

std::string SentenceOf(const VerdictRecord& record);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_SENTENCE_H_
