#include "agent/delivery/fitted_window.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace swaplock {
namespace {

// Cells that differ by their device only become one. False if there are none.
bool MergeDevices(Window* window) {
  std::vector<Cell> merged;
  std::map<CellKey, uint32_t> index;
  std::vector<uint32_t> moved_to;
  for (Cell& cell : window->cells) {
    cell.key.device.clear();
    const auto [it, is_new] =
        index.emplace(cell.key, static_cast<uint32_t>(merged.size()));
    moved_to.push_back(it->second);
    if (is_new) {
      merged.push_back(std::move(cell));
    } else {
      merged[it->second].Merge(cell);
    }
  }
  const bool fewer = merged.size() < window->cells.size();
  window->cells = std::move(merged);
  for (auto* holds : {&window->holds_in_progress, &window->top_holds}) {
    for (Hold& hold : *holds) hold.cell = moved_to[hold.cell];
  }
  return fewer;
}

}  // namespace

bool FitWindow(size_t max_bytes, Window* window) {
  bool changed = false;
  for (auto* holds : {&window->holds_in_progress, &window->top_holds}) {
    while (!holds->empty() && Serialize(*window).size() > max_bytes) {
      holds->resize(holds->size() / 2);
      changed = true;
    }
  }
  if (Serialize(*window).size() > max_bytes && MergeDevices(window)) {
    changed = true;
  }
  return changed;
}

}  // namespace swaplock
