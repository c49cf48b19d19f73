#include "server/steering/steering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr uint32_t kHourMs = 3'600'000;
constexpr uint32_t kShortestIntervalMs = 100;
constexpr uint32_t kMostTopHolds = 64;

v1::ServerMessage MessageOf(const v1::Settings& settings) {
  v1::ServerMessage out;
  *out.mutable_settings() = settings;
  return out;
}

}  // namespace

absl::Status CheckSettings(const v1::Settings& settings) {
  if (settings.interval_ms() != 0 &&
      (settings.interval_ms() < kShortestIntervalMs ||
       settings.interval_ms() > kHourMs)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an interval of ", settings.interval_ms(),
                     " ms is not within 100 to 3600000"));
  }
  if (settings.top_k() > kMostTopHolds) {
    return absl::InvalidArgumentError(absl::StrCat(
        settings.top_k(), " longest holds are more than 64, the most"));
  }
  if (settings.lease_ms() > kHourMs) {
    return absl::InvalidArgumentError("a deep-dive lasts at most an hour");
  }
  return absl::OkStatus();
}

void Steering::Opened(const std::string& host_id,
                      const std::shared_ptr<Line>& line) {
  std::vector<v1::ServerMessage> notices;
  {
    absl::MutexLock lock(&mutex_);
    lines_.emplace(host_id, line);
    notices = For(host_id);
  }
  if (!notices.empty()) line->Say(std::move(notices));
}

void Steering::Closed(const std::string& host_id, const Line* line) {
  absl::MutexLock lock(&mutex_);
  const auto [begin, end] = lines_.equal_range(host_id);
  const auto it = std::find_if(
      begin, end, [line](const auto& one) { return one.second.get() == line; });
  if (it != end) lines_.erase(it);
}

void Steering::SetForAll(const v1::Settings& settings) {
  std::vector<std::pair<std::shared_ptr<Line>, std::vector<v1::ServerMessage>>>
      told;
  {
    absl::MutexLock lock(&mutex_);
    for_all_ = settings;
    for_all_->clear_lease_ms();
    told.reserve(lines_.size());
    for (const auto& [host_id, line] : lines_) {
      told.emplace_back(line, For(host_id));
    }
  }
  for (auto& [line, notices] : told) line->Say(std::move(notices));
}

absl::StatusOr<size_t> Steering::DeepDive(const std::string& host_id,
                                          const v1::Settings& settings) {
  if (absl::Status s = CheckSettings(settings); !s.ok()) return s;
  std::vector<std::shared_ptr<Line>> lines;
  std::vector<v1::ServerMessage> notices;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = Now();
    for (auto it = leases_.begin(); it != leases_.end();) {
      it = it->second.end <= now ? leases_.erase(it) : std::next(it);
    }
    if (settings.lease_ms() == 0) {
      leases_.erase(host_id);
    } else if (leases_.count(host_id) == 0 && leases_.size() >= kMaxDeepDives) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "there are ", kMaxDeepDives, " deep-dives already, the most"));
    } else {
      leases_[host_id] = {settings,
                          now + absl::Milliseconds(settings.lease_ms())};
    }
    lines = LinesOf(host_id);
    notices = For(host_id);
    // Standing settings end a lease.
    if (notices.empty()) notices = {MessageOf({})};
  }
  for (const auto& line : lines) line->Say(notices);
  return lines.size();
}

absl::Duration Steering::ReconnectAll(double per_second) {
  std::vector<std::shared_ptr<Line>> lines;
  {
    absl::MutexLock lock(&mutex_);
    lines.reserve(lines_.size());
    for (const auto& [host_id, line] : lines_) lines.push_back(line);
  }
  const absl::Duration within =
      std::clamp(absl::Seconds(static_cast<double>(lines.size()) / per_second),
                 absl::Seconds(1), absl::Hours(1));
  v1::ServerMessage notice;
  notice.mutable_reconnect()->set_within_ms(
      static_cast<uint32_t>(absl::ToInt64Milliseconds(within)));
  for (const auto& line : lines) line->Say({notice});
  return within;
}

std::vector<v1::ServerMessage> Steering::For(const std::string& host_id) const {
  std::vector<v1::ServerMessage> out;
  if (for_all_.has_value()) out.push_back(MessageOf(*for_all_));
  const auto it = leases_.find(host_id);
  if (it == leases_.end() || it->second.end <= Now()) return out;
  v1::Settings leased = it->second.settings;
  if (for_all_.has_value()) {
    if (leased.interval_ms() == 0) {
      leased.set_interval_ms(for_all_->interval_ms());
    }
    if (leased.top_k() == 0) leased.set_top_k(for_all_->top_k());
    if (leased.top_hold_ns() == 0) {
      leased.set_top_hold_ns(for_all_->top_hold_ns());
    }
  }
  leased.set_lease_ms(static_cast<uint32_t>(
      std::max<int64_t>(absl::ToInt64Milliseconds(it->second.end - Now()), 1)));
  out.push_back(MessageOf(leased));
  return out;
}

std::vector<std::shared_ptr<Steering::Line>> Steering::LinesOf(
    const std::string& host_id) const {
  std::vector<std::shared_ptr<Line>> out;
  const auto [begin, end] = lines_.equal_range(host_id);
  for (auto it = begin; it != end; ++it) out.push_back(it->second);
  return out;
}

}  // namespace swaplock
