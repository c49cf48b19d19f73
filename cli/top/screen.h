// The terminal as a full screen, by ncurses: lines out, keys in. The terminal
// is as it was once the object is gone. One at a time; not thread-safe.
#ifndef SWAPLOCK_CLI_TOP_SCREEN_H_
#define SWAPLOCK_CLI_TOP_SCREEN_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/top/fleet_view.h"

namespace swaplock {

class Screen {
 public:
  // InvalidArgument when the terminal's kind ($TERM) is not known. Colours only
  // where the terminal has them and $NO_COLOR is not set.
  static absl::StatusOr<std::unique_ptr<Screen>> Open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  size_t rows() const;
  size_t columns() const;
  void Show(const std::vector<FleetView::Line>& lines);

  // A character or a ViewKey; 0 when none came within `patience`, or the
  // terminal changed its size; -1 when the terminal is gone.
  int WaitForKey(absl::Duration patience);

 private:
  Screen() = default;
  bool colors_ = false;
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_TOP_SCREEN_H_
