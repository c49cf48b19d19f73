#include "server/judge/rollout_hash.h"

#include <string>

#include "server/verdict/row_hash.h"

namespace swaplock {
namespace {

class Hasher : public RowHash {
 public:
  using RowHash::Add;
  using RowHash::RowHash;

  void Add(const OperationCounts& c) {
    Add(static_cast<int>(c.measured.lock_model));
    Add(c.measured.waits.has_value() ? 1 + static_cast<int>(*c.measured.waits)
                                     : 0);
    Add(c.measured.parts);
    Add(c.measured.latency);
    for (const uint64_t count :
         {c.operations, c.contended, c.waits_over_1ms, c.waits_over_10ms,
          c.waits_over_100ms, c.episodes_over_10ms, c.wait_ns, c.hold_ns,
          c.runnable_ns, c.longest_runnable_ns, c.censored, c.timed_operations,
          c.slow_operations}) {
      Add(count);
    }
    Add(uint64_t{c.daily_longest_hold_ns.size()});
    for (const uint64_t ns : c.daily_longest_hold_ns) Add(ns);
    Add(uint64_t{c.waits.size()});
    for (const BucketCount& bucket : c.waits) {
      Add(bucket.index);
      Add(bucket.count);
    }
  }

  void Add(const std::optional<HostWindow>& window) {
    Add(window.has_value());
    if (!window.has_value()) return;
    Add(window->first_day);
    Add(window->days);
    Add(window->hours);
    Add(window->events_lost);
    Add(uint64_t{window->operations.size()});
    for (const auto& [key, counts] : window->operations) {
      Add(static_cast<int>(key.first));
      Add(static_cast<int>(key.second));
      Add(counts);
    }
  }

  void Add(const HostChange& host) {
    Add(host.host_id);
    Add(static_cast<int>(host.arm));
    Add(host.boot_day);
    Add(host.wave);
    Add(host.rebooted);
    Add(host.vanished);
    Add(host.build_before);
    Add(host.build_after);
    Add(uint64_t{host.keys.size()});
    for (const auto& [name, value] : host.keys) {
      Add(name);
      Add(value);
    }
    Add(uint64_t{host.co_changes.size()});
    for (const std::string& change : host.co_changes) Add(change);
    Add(host.before);
    Add(host.after);
  }
};

}  // namespace

uint64_t HashOfRollout(const Rollout& rollout, uint64_t hash) {
  Hasher hasher(hash);
  hasher.Add(rollout.kernel_base);
  hasher.Add(rollout.kernel_new);
  hasher.Add(uint64_t{rollout.builds_between.size()});
  for (const std::string& build : rollout.builds_between) hasher.Add(build);
  hasher.Add(rollout.hosts_waiting);
  hasher.Add(rollout.uptime_unmatched);
  hasher.Add(uint64_t{rollout.hosts.size()});
  for (const HostChange& host : rollout.hosts) hasher.Add(host);
  return hasher.hash();
}

}  // namespace swaplock
