#include "server/judge/rollout_hash.h"

#include <cstring>
#include <string>

#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

// splitmix64's step for numbers, FNV-1a for texts.
class Hasher {
 public:
  explicit Hasher(uint64_t hash) : hash_(hash) {}

  void Add(const std::string& text) { hash_ = HashOf(text, hash_); }
  void Add(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    Add(bits);
  }
  void Add(uint64_t value) { hash_ = SeededRandom(hash_ ^ value).Next(); }
  void Add(int64_t value) { Add(static_cast<uint64_t>(value)); }
  void Add(int value) { Add(static_cast<uint64_t>(value)); }
  void Add(bool value) { Add(uint64_t{value}); }

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

  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_;
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
