// How wide a line on stdout may be.
#ifndef SWAPLOCK_CLI_LINE_WIDTH_H_
#define SWAPLOCK_CLI_LINE_WIDTH_H_

#include <cstddef>

namespace swaplock {

// In characters: $COLUMNS, or what the terminal says; 0: no limit is known.
size_t LineWidth();

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_LINE_WIDTH_H_
