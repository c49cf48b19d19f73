#include "agent/delivery/fitted_window.h"

namespace swaplock {

bool FitWindow(size_t max_bytes, Window* window) {
  bool dropped = false;
  for (auto* holds : {&window->holds_in_progress, &window->top_holds}) {
    while (!holds->empty() && Serialize(*window).size() > max_bytes) {
      holds->resize(holds->size() / 2);
      dropped = true;
    }
  }
  return dropped;
}

}  // namespace swaplock
