#include "server/fleet/hosts_now.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "server/fleet/fleet_state.h"

namespace swaplock {
namespace {

constexpr int kIntervals = 3;
constexpr absl::Duration kLate = absl::Seconds(10);
constexpr absl::Duration kClocksDiffer = absl::Minutes(1);
constexpr absl::Duration kSweepEvery = absl::Seconds(10);
// An agent's interval is an hour at most.
constexpr absl::Duration kMaxInterval = absl::Hours(1);

absl::Duration IntervalOf(const Window& window) {
  const uint64_t windows = std::max<uint64_t>(1, window.merged);
  const uint64_t ns =
      (window.end_boottime_ns - window.start_boottime_ns) / windows;
  return absl::Nanoseconds(static_cast<int64_t>(std::min(
      ns, static_cast<uint64_t>(absl::ToInt64Nanoseconds(kMaxInterval)))));
}

bool Longer(const HoldInProgress& a, const HoldInProgress& b) {
  return std::tie(b.hold.hold_ns, a.host_id) <
         std::tie(a.hold.hold_ns, b.host_id);
}

size_t BytesOf(uint64_t /*value*/) { return sizeof(uint64_t); }
size_t BytesOf(const std::string& value) { return value.size(); }

// Takes the bytes of the entries from `*left`, and removes the last ones when
// they do not fit; false if it had to.
template <typename Map>
bool Fit(Map* entries, size_t* left) {
  for (auto it = entries->begin(); it != entries->end(); ++it) {
    const size_t bytes = it->first.size() + BytesOf(it->second);
    if (bytes > *left) {
      entries->erase(it, entries->end());
      return false;
    }
    *left -= bytes;
  }
  return true;
}

}  // namespace

void HostsNow::TakeHolds(const Window& window, absl::Time as_of,
                         absl::Time until) {
  const std::string& host_id = window.key.host_id;
  holds_.erase(std::remove_if(holds_.begin(), holds_.end(),
                              [&](const HoldInProgress& h) {
                                return h.host_id == host_id;
                              }),
               holds_.end());
  if (window.holds_in_progress.empty()) return;
  std::vector<HoldInProgress> mine;
  mine.reserve(window.holds_in_progress.size());
  for (const Hold& hold : window.holds_in_progress) {
    const Cell& cell = window.cells[hold.cell];
    mine.push_back({host_id, window.environment.kernel_release, cell.key,
                    cell.lock_model, cell.hold_tier, hold, as_of, until});
    mine.back().hold.cell = 0;
  }
  std::stable_sort(mine.begin(), mine.end(), Longer);
  if (mine.size() > kMaxHoldsOfHost) {
    mine.resize(kMaxHoldsOfHost);
  }
  std::move(mine.begin(), mine.end(), std::back_inserter(holds_));
}

void HostsNow::TakeContext(const Window& window, absl::Time as_of,
                           absl::Time until, absl::Time now) {
  std::shared_ptr<const HostContext>& slot = contexts_[window.key.host_id];
  auto next = std::make_shared<HostContext>();
  Context before;
  if (slot != nullptr && slot->said_by.boot_id == window.key.boot_id &&
      slot->said_by.epoch == window.key.epoch) {
    before = slot->known;
    // A change that did not arrive may be anything.
    const uint64_t stands_for = std::max<uint64_t>(1, window.merged);
    if (window.key.seq > slot->said_by.seq + stands_for) {
      before.complete = false;
    }
  }
  Context said = window.context;
  said.counters.clear();
  next->known = Applied(said, before);
  size_t left = kMaxContextBytes;
  const bool fits =
      Fit(&next->known.facts, &left) && Fit(&next->known.gauges, &left);
  if (!fits) next->known.complete = false;
  if (next->known.Empty()) {
    contexts_.erase(window.key.host_id);
    return;
  }
  next->as_of = as_of;
  next->said_by = window.key;
  next->until = until;
  slot = std::move(next);
  if (contexts_.size() <= kMaxContexts) return;
  if (now - swept_ >= kSweepEvery) {
    swept_ = now;
    for (auto it = contexts_.begin(); it != contexts_.end();) {
      it = it->second->until < now ? contexts_.erase(it) : std::next(it);
    }
  }
  if (contexts_.size() > kMaxContexts) contexts_.erase(window.key.host_id);
}

void HostsNow::Take(const Window& window, absl::Time now) {
  const absl::Time as_of = std::min(CountedAt(window, now), now);
  const absl::Duration silence = kIntervals * IntervalOf(window) + kLate;
  const bool news = now - as_of <= silence + kClocksDiffer;
  const absl::Time until = news ? now + silence : as_of + silence;
  TakeHolds(window, as_of, until);
  if (holds_.size() > kMaxHolds) {
    holds_.erase(
        std::remove_if(holds_.begin(), holds_.end(),
                       [&](const HoldInProgress& h) { return h.until < now; }),
        holds_.end());
    std::stable_sort(holds_.begin(), holds_.end(), Longer);
    if (holds_.size() > kMaxHolds) holds_.resize(kMaxHolds);
  }
  TakeContext(window, as_of, until, now);
}

std::vector<HoldInProgress> HostsNow::HoldsInProgress(absl::Time now) const {
  std::vector<HoldInProgress> out;
  std::copy_if(holds_.begin(), holds_.end(), std::back_inserter(out),
               [now](const HoldInProgress& h) { return h.until >= now; });
  std::stable_sort(out.begin(), out.end(), Longer);
  return out;
}

std::shared_ptr<const HostContext> HostsNow::ContextOf(
    const std::string& host_id) const {
  const auto it = contexts_.find(host_id);
  return it == contexts_.end() ? nullptr : it->second;
}

std::string HostsNow::FactOf(const std::string& host_id,
                             const std::string& name) const {
  const auto host = contexts_.find(host_id);
  if (host == contexts_.end()) return "";
  const auto fact = host->second->known.facts.find(name);
  return fact == host->second->known.facts.end() ? "" : fact->second;
}

}  // namespace swaplock
