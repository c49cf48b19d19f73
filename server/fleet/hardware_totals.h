// What all hosts counted, by the kind of their CPUs: whether waits are long on
// old machines or on all. Since the server's start, in memory.
//
// Bounded: kFamilies kinds have numbers of their own, the ones that came first.
// Plain value, not thread-safe.
#ifndef SWAPLOCK_SERVER_FLEET_HARDWARE_TOTALS_H_
#define SWAPLOCK_SERVER_FLEET_HARDWARE_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "common/cell.h"
#include "common/window.h"

namespace swaplock {

struct HardwareKey {
  // "GenuineIntel 6 207" (agent/host/cpu_family.h), "other", or "unknown": the
  // host has not said it since the server's start.
  std::string cpu_family;
  std::string kernel_release;
  Subsystem subsystem = Subsystem::kUnspecified;
  Operation operation = Operation::kUnspecified;

  friend bool operator<(const HardwareKey& a, const HardwareKey& b) {
    return std::tie(a.cpu_family, a.kernel_release, a.subsystem, a.operation) <
           std::tie(b.cpu_family, b.kernel_release, b.subsystem, b.operation);
  }
};

// Of hosts that count holds and see waits, so that these may be divided.
struct HardwareCounts {
  uint64_t acquisitions = 0;
  uint64_t contended = 0;
  uint64_t waits_over_10ms = 0;
  uint64_t hold_ns = 0;
  uint64_t runnable_ns = 0;  // of hold_ns

  HardwareCounts& operator+=(const HardwareCounts& other);
};

class HardwareTotals {
 public:
  static constexpr size_t kFamilies = 8;

  // `cpu_family` is empty when it is not known.
  void Take(const Window& window, const std::string& cpu_family);

  const std::map<HardwareKey, HardwareCounts>& counts() const {
    return counts_;
  }

 private:
  std::string LabelOf(const std::string& cpu_family);

  std::set<std::string> families_;
  std::map<HardwareKey, HardwareCounts> counts_;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_FLEET_HARDWARE_TOTALS_H_
