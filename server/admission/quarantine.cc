#include "server/admission/quarantine.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace swaplock {

void Quarantine::MakeRoom(absl::Time now) {
  if (records_.size() < kMaxHosts) return;
  // The one whose record matters least: not set aside, and longest ago.
  const auto least = std::min_element(
      records_.begin(), records_.end(), [now](const auto& a, const auto& b) {
        const Record& x = a.second;
        const Record& y = b.second;
        return std::make_tuple(x.host.until > now, x.first) <
               std::make_tuple(y.host.until > now, y.first);
      });
  records_.erase(least);
}

void Quarantine::Restore(const std::vector<QuarantinedHost>& hosts) {
  for (const QuarantinedHost& host : hosts) {
    if (records_.size() == kMaxHosts) break;
    Record record;
    record.host = host;
    record.first = host.since;
    records_.emplace(host.host_id, std::move(record));
  }
}

bool Quarantine::Release(const std::string& host_id, absl::Time now) {
  const auto it = records_.find(host_id);
  if (it == records_.end()) return false;
  const bool aside = it->second.host.until > now;
  records_.erase(it);
  return aside;
}

std::optional<QuarantinedHost> Quarantine::Refused(const std::string& host_id,
                                                   absl::string_view reason,
                                                   absl::Time now) {
  auto it = records_.find(host_id);
  if (it == records_.end()) {
    MakeRoom(now);
    it = records_.emplace(host_id, Record()).first;
    it->second.host.host_id = host_id;
    it->second.host.until = absl::InfinitePast();
  }
  Record& record = it->second;
  ++record.host.refused;
  if (record.host.until > now) return std::nullopt;
  if (record.refusals == 0 || now - record.first > kWithin ||
      now < record.first) {
    record.refusals = 0;
    record.first = now;
  }
  record.host.reason = std::string(reason);
  if (++record.refusals < kRefusals) return std::nullopt;
  record.refusals = 0;
  const absl::Duration time =
      std::min(kLongest, kFirst * (1 << std::min(record.host.times, 5)));
  ++record.host.times;
  record.host.since = now;
  record.host.until = now + time;
  return record.host;
}

absl::Duration Quarantine::LeftOf(const std::string& host_id,
                                  absl::Time now) const {
  const auto it = records_.find(host_id);
  if (it == records_.end()) return absl::ZeroDuration();
  return std::max(absl::ZeroDuration(), it->second.host.until - now);
}

std::string Quarantine::ReasonOf(const std::string& host_id,
                                 absl::Time now) const {
  const auto it = records_.find(host_id);
  return it != records_.end() && it->second.host.until > now
             ? it->second.host.reason
             : "";
}

std::vector<QuarantinedHost> Quarantine::List(absl::Time now) const {
  std::vector<QuarantinedHost> out;
  for (const auto& [id, record] : records_) {
    if (record.host.until > now) out.push_back(record.host);
  }
  return out;
}

}  // namespace swaplock
