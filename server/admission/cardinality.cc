#include "server/admission/cardinality.h"

#include <utility>
#include <vector>

namespace swaplock {

Cardinality::Cardinality(const FleetState& loaded,
                         const CardinalityLimits& limits)
    : limits_(limits) {
  for (const auto& [key, cohort] : loaded.cohorts) {
    std::set<CohortCellKey>& cells = cohorts_[key];
    for (const auto& [cell_key, cell] : cohort.cells) cells.insert(cell_key);
    cells_ += cells.size();
  }
}

// Whether the window's kernel may stay what it is.
bool Cardinality::FitKernel(const Window& window, absl::Time now) {
  if (DayOf(now) != day_) {
    day_ = DayOf(now);
    kernels_today_.clear();
  }
  const CohortKey key = {window.environment.kernel_release,
                         window.environment.preempt};
  std::set<CohortKey>& mine = kernels_today_[window.key.host_id];
  const bool is_mine = mine.count(key) > 0;
  if (!is_mine && mine.size() >= limits_.kernels_of_host_per_day) return false;
  if (cohorts_.count(key) == 0) {
    if (cohorts_.size() >= limits_.cohorts) return false;
    cohorts_[key];
  }
  mine.insert(key);
  return true;
}

bool Cardinality::FitCell(const CohortKey& cohort, Cell* cell) {
  std::set<CohortCellKey>& cells = cohorts_[cohort];
  CohortCellKey key = CohortKeyOf(*cell);
  if (cells.count(key) > 0) return true;
  if (HasRoom(cells)) {
    cells.insert(std::move(key));
    ++cells_;
    return true;
  }
  key.key.algorithm = kOtherName;
  if (cells.count(key) == 0) {
    // Room for one more of these: there are as many as kinds of locks.
    if (cells.size() >= 2 * limits_.cells_of_cohort ||
        cells_ >= 2 * limits_.cells) {
      return false;
    }
    cells.insert(std::move(key));
    ++cells_;
  }
  cell->key.algorithm = kOtherName;
  ++overflow_.algorithms;
  return true;
}

void Cardinality::Fit(Window* window, absl::Time now) {
  if (!FitKernel(*window, now)) {
    ++overflow_.kernels;
    window->environment.kernel_release = kOtherName;
    window->environment.preempt.clear();
  }
  const CohortKey cohort = {window->environment.kernel_release,
                            window->environment.preempt};
  bool all_fit = true;
  std::vector<bool> fits;
  for (Cell& cell : window->cells) {
    fits.push_back(FitCell(cohort, &cell));
    all_fit = all_fit && fits.back();
  }
  if (all_fit) return;
  // Holds name their cells by number: those of cells left out go with them.
  std::vector<uint32_t> moved(window->cells.size());
  std::vector<Cell> kept;
  for (size_t i = 0; i < window->cells.size(); ++i) {
    moved[i] = static_cast<uint32_t>(kept.size());
    if (fits[i]) kept.push_back(std::move(window->cells[i]));
  }
  overflow_.cells += window->cells.size() - kept.size();
  window->cells = std::move(kept);
  for (auto* holds : {&window->top_holds, &window->holds_in_progress}) {
    std::vector<Hold> left;
    for (Hold& hold : *holds) {
      if (!fits[hold.cell]) continue;
      hold.cell = moved[hold.cell];
      left.push_back(std::move(hold));
    }
    *holds = std::move(left);
  }
}

}  // namespace swaplock
