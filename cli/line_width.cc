#include "cli/line_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/numbers.h"

namespace swaplock {

size_t LineWidth() {
  const char* columns = std::getenv("COLUMNS");
  size_t width = 0;
  if (columns != nullptr && absl::SimpleAtoi(columns, &width)) return width;
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace swaplock
