// Small files of the host, of /proc and /sys. `root` stands before the path,
// for tests. A file that cannot be read reads as empty.
#ifndef SWAPLOCK_AGENT_HOST_HOST_FILE_H_
#define SWAPLOCK_AGENT_HOST_HOST_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

std::string ReadHostFile(absl::string_view root, absl::string_view path);

// Without white space at either end, as for a file of one value.
std::string ReadHostValue(absl::string_view root, absl::string_view path);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_HOST_FILE_H_
