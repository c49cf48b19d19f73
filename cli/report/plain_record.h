// Records of files that anybody may have written, made harmless to print: texts
// are plain (common/plain_text) and short. What identifies a record (host,
// boot, run) keeps its length, so that no two become the same by being cut.
//
// Pure function.
#ifndef SWAPLOCK_CLI_REPORT_PLAIN_RECORD_H_
#define SWAPLOCK_CLI_REPORT_PLAIN_RECORD_H_

#include <cstddef>

#include "common/record_file.h"

namespace swaplock {

inline constexpr size_t kLongestSentence = 1024;  // bytes: reasons, arguments
inline constexpr size_t kLongestName = 128;       // bytes: everything else

void MakePlain(Record* record);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_PLAIN_RECORD_H_
