// What a run has come to so far, for whoever waits for its end: the line that
// is shown while it runs and the summary after it. `swaplock report` tells the
// rest.
//
// Plain values; not thread-safe.
#ifndef SWAPLOCK_CLI_RECORD_RUN_TOTALS_H_
#define SWAPLOCK_CLI_RECORD_RUN_TOTALS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "common/window.h"

namespace swaplock {

class RunTotals {
 public:
  void Add(const Window& window);

  uint64_t windows() const { return windows_; }

  // "12.0s  66,755 acquisitions  1,234 contended, 2.34s  longest hold 817ms":
  // what no probe sees is left out, or "not measured" where nothing is.
  std::string Line(absl::Duration elapsed) const;

  // "66,755 acquisitions, 1,234 contended (1.8%) waited 2.34s, longest hold
  // 817ms (zram1 write stream, fio[207] other nice 19)".
  std::string Summary() const;

 private:
  std::string Text(const char* between, bool more) const;

  uint64_t windows_ = 0;
  uint64_t acquisitions_ = 0;
  uint64_t contended_ = 0;          // of all locks
  uint64_t contended_counted_ = 0;  // of those whose acquisitions are counted
  uint64_t wait_ns_ = 0;
  uint64_t longest_hold_ns_ = 0;
  std::string longest_hold_;  // whose; empty if not known
  bool counts_holds_ = false;
  bool counts_waits_ = false;
};

// "1,234,567".
std::string WithCommas(uint64_t number);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_RECORD_RUN_TOTALS_H_
