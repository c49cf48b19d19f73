#include "server/verdict/exposure.h"

#include <algorithm>
#include <optional>

namespace swaplock {
namespace {

// One host's cells of one operation, all roles.
struct HostOperation {
  std::map<Role, uint64_t> acquisitions;
  uint64_t waits_over_10ms = 0;
  std::set<WaitSight> sights;
  bool unmeasured = false;
};

void Add(const HostCell& cell, HostOperation* host) {
  const std::optional<WaitSight> sight =
      SightOf(cell.lock_model, cell.hold_tier, cell.wait_tier);
  if (!sight.has_value()) {
    host->unmeasured = true;
    return;
  }
  host->acquisitions[cell.key.role] += cell.acquisitions;
  host->waits_over_10ms += cell.waits_over_10ms;
  host->sights.insert(*sight);
}

void Conclude(const std::string& host_id, const HostOperation& host,
              Evidence* evidence) {
  std::set<WaitSight> sights = host.sights;
  // Roles differ in lock model: what cannot wait does not blur what can.
  if (sights.size() > 1) sights.erase(WaitSight::kImpossible);
  if (host.unmeasured || sights.size() != 1) {
    evidence->unmeasured.insert(host_id);
    return;
  }
  HostRate rate;
  for (const auto& [role, count] : host.acquisitions) {
    rate.operations = std::max(rate.operations, count);
  }
  rate.waits_over_10ms = host.waits_over_10ms;
  evidence->hosts[*sights.begin()][host_id] = rate;
}

}  // namespace

std::optional<WaitSight> SightOf(LockModel lock_model, Tier hold_tier,
                                 Tier wait_tier) {
  if (!CountsHolds(hold_tier)) return std::nullopt;
  if (lock_model == LockModel::kPreemptOff || lock_model == LockModel::kNone) {
    return WaitSight::kImpossible;
  }
  switch (wait_tier) {
    case Tier::kExact:
      return WaitSight::kExact;
    case Tier::kBracket:
      return WaitSight::kBracket;
    case Tier::kContention:
      return WaitSight::kContention;
    case Tier::kOwnerProbe:
    case Tier::kUnspecified:
      break;
  }
  return std::nullopt;
}

std::map<std::string, std::map<OperationKey, Evidence>> GatherEvidence(
    const std::vector<HostCell>& cells) {
  std::map<std::string,
           std::map<OperationKey, std::map<std::string, HostOperation>>>
      hosts;
  for (const HostCell& cell : cells) {
    const OperationKey operation = {cell.key.subsystem, cell.key.operation};
    Add(cell, &hosts[cell.kernel_release][operation][cell.host_id]);
  }
  std::map<std::string, std::map<OperationKey, Evidence>> out;
  for (const auto& [kernel, operations] : hosts) {
    for (const auto& [operation, by_host] : operations) {
      Evidence& evidence = out[kernel][operation];
      for (const auto& [host_id, host] : by_host) {
        Conclude(host_id, host, &evidence);
      }
    }
  }
  return out;
}

}  // namespace swaplock
