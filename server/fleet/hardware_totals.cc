#include "server/fleet/hardware_totals.h"

namespace swaplock {

HardwareCounts& HardwareCounts::operator+=(const HardwareCounts& other) {
  acquisitions += other.acquisitions;
  contended += other.contended;
  waits_over_10ms += other.waits_over_10ms;
  hold_ns += other.hold_ns;
  runnable_ns += other.runnable_ns;
  return *this;
}

std::string HardwareTotals::LabelOf(const std::string& cpu_family) {
  if (cpu_family.empty()) return "unknown";
  if (families_.size() < kFamilies) families_.insert(cpu_family);
  return families_.count(cpu_family) > 0 ? cpu_family : "other";
}

void HardwareTotals::Take(const Window& window, const std::string& cpu_family) {
  std::string label;
  for (const Cell& cell : window.cells) {
    if (IsOperation(cell) || !CountsHolds(cell.hold_tier) ||
        cell.wait_tier == Tier::kUnspecified) {
      continue;
    }
    if (label.empty()) label = LabelOf(cpu_family);
    counts_[{label, window.environment.kernel_release, cell.key.subsystem,
             cell.key.operation}] +=
        {cell.acquisitions, cell.contended, cell.wait.over_10ms,
         cell.hold.sum_ns, cell.runnable.sum_ns};
  }
}

}  // namespace swaplock
