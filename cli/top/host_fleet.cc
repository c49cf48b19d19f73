#include "cli/top/host_fleet.h"

#include <algorithm>

namespace swaplock {

void HostFleet::Take(const Window& window) {
  for (const Cell& cell : window.cells) {
    const auto same =
        std::find_if(cells_.begin(), cells_.end(), [&cell](const Cell& other) {
          return other.key == cell.key && other.lock_model == cell.lock_model &&
                 other.hold_tier == cell.hold_tier &&
                 other.wait_tier == cell.wait_tier &&
                 other.latency_tier == cell.latency_tier;
        });
    if (same == cells_.end()) {
      cells_.push_back(cell);
    } else {
      same->Merge(cell);
    }
  }
  for (const Hold& hold : window.top_holds) {
    if (hold.cell >= window.cells.size()) continue;
    longest_.push_back({hold, window.cells[hold.cell].key, window.end_unix_ns});
  }
  std::stable_sort(longest_.begin(), longest_.end(),
                   [](const Long& a, const Long& b) {
                     return a.hold.hold_ns > b.hold.hold_ns;
                   });
  if (longest_.size() > kHolds) longest_.resize(kHolds);
  last_ = window;
  ++windows_;
}

v1::Fleet HostFleet::ToFleet() const {
  v1::Fleet fleet;
  if (windows_ == 0) return fleet;
  const std::string& kernel = last_.environment.kernel_release;
  v1::Cohort* cohort = fleet.add_cohorts();
  cohort->set_kernel_release(kernel);
  cohort->set_preempt(last_.environment.preempt);
  cohort->set_hosts(1);
  cohort->set_windows(windows_);
  for (const Cell& cell : cells_) *cohort->add_cells() = ToProto(cell);
  for (const Long& held : longest_) {
    v1::TopHold* top = fleet.add_top_holds();
    top->set_host_id(last_.key.host_id);
    top->set_kernel_release(kernel);
    *top->mutable_key() = ToProto(held.key);
    *top->mutable_hold() = ToProto(held.hold);
    top->set_end_unix_ns(held.end_unix_ns);
  }
  for (const Hold& hold : last_.holds_in_progress) {
    if (hold.cell >= last_.cells.size()) continue;
    const Cell& cell = last_.cells[hold.cell];
    v1::HoldInProgress* held = fleet.add_holds_in_progress();
    held->set_host_id(last_.key.host_id);
    held->set_kernel_release(kernel);
    *held->mutable_key() = ToProto(cell.key);
    held->set_lock_model(static_cast<v1::LockModel>(cell.lock_model));
    held->set_hold_tier(static_cast<v1::Tier>(cell.hold_tier));
    *held->mutable_hold() = ToProto(hold);
    held->set_as_of_unix_ns(last_.end_unix_ns);
  }
  v1::HostState* host = fleet.add_hosts();
  host->set_host_id(last_.key.host_id);
  host->set_kernel_release(kernel);
  host->set_last_seen_unix_ns(last_.end_unix_ns);
  host->set_windows(windows_);
  host->set_connected(true);
  *host->mutable_coverage() = ToProto(last_.coverage);
  *host->mutable_environment() = ToProto(last_.environment);
  return fleet;
}

}  // namespace swaplock
