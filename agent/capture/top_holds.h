// The longest holds of a window with what explains them: joins the programs'
// records of holds with those of waits, and names what they give as numbers.
//
// A wait belongs to a hold if it overlaps it in time and was for the same lock,
// or, where the hold's lock has no address, began while the holder owned it.
// Only the longest waits per CPU and window leave the kernel, so a stall is the
// sum of the waits that are known: a lower bound.
//
// Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_TOP_HOLDS_H_
#define SWAPLOCK_AGENT_CAPTURE_TOP_HOLDS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "agent/bpf/hold_record.h"
#include "agent/capture/kernel_names.h"
#include "common/window.h"

namespace swaplock {

class TopHolds {
 public:
  // `names` may be null: then stacks and cgroups stay empty. It must outlive
  // the object.
  TopHolds(int top_k, KernelNames* names) : top_k_(top_k), names_(names) {}

  // From the next Take() on.
  void set_top_k(int top_k) { top_k_ = top_k; }

  void AddHold(const sl_top_hold& record) { holds_.push_back(record); }
  void AddWait(const sl_top_wait& record) { waits_.push_back(record); }

  // The longest holds of kernel window `window`, longest first. Records of
  // later windows are kept for theirs. `start_monotonic_ns` is where the window
  // began on CLOCK_MONOTONIC; `cell_of` gives the place of a cell's index.
  std::vector<Hold> Take(uint32_t window, uint64_t start_monotonic_ns,
                         const std::map<int, uint32_t>& cell_of);

  // Holds that last on, longest first, at most top_k; their parts sum.
  std::vector<Hold> InProgress(const std::vector<sl_hold_facts>& facts,
                               uint64_t start_monotonic_ns,
                               const std::map<int, uint32_t>& cell_of) const;

 private:
  void AddWaiters(const sl_hold_facts& facts, Hold* hold) const;

  int top_k_;
  KernelNames* const names_;
  std::vector<sl_top_hold> holds_;
  std::vector<sl_top_wait> waits_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_TOP_HOLDS_H_
