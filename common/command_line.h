// Parsing of flags with the exit statuses people expect of a Unix program:
// absl's own are 1 for a wrong flag and 1 for --help.
#ifndef SWAPLOCK_COMMON_COMMAND_LINE_H_
#define SWAPLOCK_COMMON_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

// Exit statuses, as in sysexits.h.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnavailable = 69;
inline constexpr int kExitConfig = 78;

// Sets absl's flags and returns what is left, without the program's name. Ends
// the program with 0 after --help and --version, and with kExitUsage after a
// message for a flag that is unknown or has a wrong value. `usage` is printed
// above the flags by --help.
std::vector<std::string> ParseCommandLine(absl::string_view usage, int argc,
                                          char** argv);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_COMMAND_LINE_H_
