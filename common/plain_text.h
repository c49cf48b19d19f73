// Plain text: valid UTF-8 without control characters (U+0000 to U+001F, U+007F
// to U+009F) and without those that change how others are shown: line and
// paragraph separators, marks, embeddings, overrides and isolates of direction,
// the byte order mark and tags. A window's strings are that, or its message
// could not be parsed (proto3 wants UTF-8) or the server would not take it; a
// task, however, may call itself anything, and the kernel cuts names in the
// middle of a character.
#ifndef SWAPLOCK_COMMON_PLAIN_TEXT_H_
#define SWAPLOCK_COMMON_PLAIN_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

bool IsPlainText(absl::string_view text);

// The text with '?' for each byte that is in no character, and for each control
// character; what exceeds `max_bytes` is cut off, before a character.
std::string PlainText(absl::string_view text,
                      size_t max_bytes = std::string::npos);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_PLAIN_TEXT_H_
