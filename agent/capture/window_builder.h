// Makes windows of the cells' cumulative numbers: takes differences, keeps what
// a cell means beside them. Names that the kernel
// gives become common/plain_text.
//
// Pure but for its baseline; not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_WINDOW_BUILDER_H_
#define SWAPLOCK_AGENT_CAPTURE_WINDOW_BUILDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/bpf/hold_record.h"
#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

// What cell i of the kernel's array stands for. hold_tier and wait_tier both
// kUnspecified: nobody writes it.
struct CellMeaning {
  CellKey key;
  LockModel lock_model = LockModel::kUnspecified;
  Tier hold_tier = Tier::kUnspecified;
  Tier wait_tier = Tier::kUnspecified;
  // Left out of windows until something is counted.
  bool only_if_used = false;
};

// What latency i of the kernel's array stands for.
struct LatencyMeaning {
  CellKey key;  // without role and mode
  LockModel lock_model = LockModel::kUnspecified;
  Tier tier = Tier::kUnspecified;
  bool only_if_used = false;
};

class WindowBuilder {
 public:
  // Sets the meaning of cell `index` from the next window on.
  void SetMeaning(int index, CellMeaning meaning);
  void ClearMeaning(int index);
  const std::map<int, CellMeaning>& meanings() const { return meanings_; }
  void SetLatencyMeaning(int index, LatencyMeaning meaning);
  void ClearLatencyMeanings() { latency_meanings_.clear(); }
  const std::map<int, LatencyMeaning>& latency_meanings() const {
    return latency_meanings_;
  }

  // Forgets the baseline: the programs were loaded anew and count from 0.
  void Restart() {
    before_.clear();
    latency_before_.clear();
  }

  // The cells of the window that has just ended. `totals` are cumulative, by
  // index. Every cell with a meaning is there, also when nothing happened
  // (zero is a measurement), but for those that are only_if_used. `index_of`
  // gets each cell's place in the result.
  std::vector<Cell> TakeCells(const std::map<int, sl_cell>& totals,
                              std::map<int, uint32_t>* index_of);

  // The operations of the same window, likewise. Two latencies of one key, an
  // operation that took a lock and one that took none, make one cell.
  std::vector<Cell> TakeOperations(const std::map<int, sl_dist>& totals);

 private:
  std::map<int, CellMeaning> meanings_;
  std::map<int, sl_cell> before_;
  std::set<int> used_;
  std::map<int, LatencyMeaning> latency_meanings_;
  std::map<int, sl_dist> latency_before_;
  std::set<int> latency_used_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_WINDOW_BUILDER_H_
