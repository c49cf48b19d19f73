#include "server/fleet/delivery_totals.h"

#include <algorithm>
#include <utility>

namespace swaplock {
namespace {

// A host may say what it likes; more than this it cannot have met in a window,
// nor have waiting.
constexpr uint64_t kMost = 1'000'000'000;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

}  // namespace

void DeliveryTotals::Take(const Window& window, bool newest) {
  if (!window.overhead.delivery.has_value()) return;
  const Delivery& said = *window.overhead.delivery;
  for (const auto& [total, events] :
       {std::make_pair(&all_.merged, said.merged),
        std::make_pair(&all_.lost, said.lost),
        std::make_pair(&all_.damaged, said.damaged),
        std::make_pair(&all_.disk_errors, said.disk_errors),
        std::make_pair(&all_.held, said.held),
        std::make_pair(&all_.streams, said.streams),
        std::make_pair(&all_.postponed, said.postponed),
        std::make_pair(&all_.refused, said.refused),
        std::make_pair(&all_.in_doubt, said.in_doubt)}) {
    *total += std::min(events, kMost);
  }
  if (!newest) return;
  const auto before = waiting_.find(window.key.host_id);
  if (before != waiting_.end()) {
    all_.waiting -= before->second.windows;
    all_.waiting_bytes -= before->second.bytes;
    all_.only_in_memory -= before->second.only_in_memory;
    waiting_.erase(before);
  }
  // Hosts of which nothing waits are most, and take no memory.
  if (said.waiting == 0) return;
  const uint64_t windows = std::min(said.waiting, kMost);
  const Waiting now = {windows, std::min(said.waiting_bytes, kMostBytes),
                       std::min(said.only_in_memory, windows)};
  waiting_[window.key.host_id] = now;
  all_.waiting += now.windows;
  all_.waiting_bytes += now.bytes;
  all_.only_in_memory += now.only_in_memory;
}

}  // namespace swaplock
