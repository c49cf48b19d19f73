#include "server/fleet/fleet.h"

#include <algorithm>
#include <utility>

namespace swaplock {

void Fleet::Committed(const std::vector<Window>& windows,
                      const std::vector<Outcome>& outcomes, absl::Time now,
                      absl::Duration commit_time) {
  absl::MutexLock lock(&mutex_);
  ++now_.commits;
  now_.commit_time += commit_time;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    Merge(window, outcomes[i], now, &now_.state);
    const absl::Time counted_at = CountedAt(window, now);
    now_.ingest_lag = std::max(absl::ZeroDuration(), now - counted_at);
    if (outcomes[i].duplicate) continue;
    const HostRecord& host = now_.state.hosts.at(window.key.host_id);
    const bool newest = static_cast<int64_t>(host.last_seen_unix_ns) ==
                        absl::ToUnixNanos(counted_at);
    if (newest) now_.hosts_now.Take(window, now);
    delivery_.Take(window, newest);
    hardware_.Take(window,
                   now_.hosts_now.FactOf(window.key.host_id, "cpu/family"));
  }
  now_.delivery = delivery_.all();
}

void Fleet::Rejected(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  ++now_.rejected[std::string(reason)];
}

std::optional<QuarantinedHost> Fleet::Misbehaved(const std::string& host_id,
                                                 absl::string_view sentence,
                                                 absl::Time now) {
  absl::MutexLock lock(&mutex_);
  return now_.quarantine.Refused(host_id, sentence, now);
}

bool Fleet::Release(const std::string& host_id, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  return now_.quarantine.Release(host_id, now);
}

void Fleet::Restore(const std::vector<QuarantinedHost>& hosts) {
  absl::MutexLock lock(&mutex_);
  now_.quarantine.Restore(hosts);
}

void Fleet::StreamRefused(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  ++now_.streams_refused[std::string(reason)];
}

void Fleet::InDoubt() {
  absl::MutexLock lock(&mutex_);
  ++now_.windows_in_doubt;
}

void Fleet::SetOverflow(const Overflow& overflow) {
  absl::MutexLock lock(&mutex_);
  now_.overflow = overflow;
}

void Fleet::SetConnections(const ConnectionCounts& connections) {
  absl::MutexLock lock(&mutex_);
  now_.connections = connections;
}

std::pair<absl::Duration, std::string> Fleet::SetAside(
    const std::string& host_id, absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  return {now_.quarantine.LeftOf(host_id, now),
          now_.quarantine.ReasonOf(host_id, now)};
}

std::vector<QuarantinedHost> Fleet::SetAsideNow(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  return now_.quarantine.List(now);
}

std::pair<bool, size_t> Fleet::Knows(const std::string& host_id) const {
  absl::MutexLock lock(&mutex_);
  return {now_.state.hosts.count(host_id) > 0, now_.state.hosts.size()};
}

void Fleet::StreamOpened(const std::string& host_id) {
  absl::MutexLock lock(&mutex_);
  ++now_.streams[host_id];
}

void Fleet::StreamClosed(const std::string& host_id) {
  absl::MutexLock lock(&mutex_);
  const auto it = now_.streams.find(host_id);
  if (it != now_.streams.end() && --it->second == 0) now_.streams.erase(it);
}

FleetSnapshot Fleet::Snapshot() const {
  absl::MutexLock lock(&mutex_);
  FleetSnapshot copy = now_;
  copy.hardware = hardware_.counts();
  return copy;
}

FleetSnapshot Fleet::ForMetrics() {
  absl::MutexLock lock(&mutex_);
  // Hosts step aside while the rest is copied.
  std::map<std::string, HostRecord> hosts = std::move(now_.state.hosts);
  HostsNow hosts_now = std::move(now_.hosts_now);
  now_.state.hosts.clear();
  now_.hosts_now = HostsNow();
  FleetSnapshot copy = now_;
  copy.host_groups = GroupsOf(hosts);
  copy.hardware = hardware_.counts();
  now_.state.hosts = std::move(hosts);
  now_.hosts_now = std::move(hosts_now);
  return copy;
}

uint64_t Fleet::commits() const {
  absl::MutexLock lock(&mutex_);
  return now_.commits;
}

}  // namespace swaplock
