#include "server/verdict/rollout_windows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/verdict/host_boots.h"
#include "server/verdict/host_window.h"
#include "server/verdict/seeded_random.h"

namespace swaplock {
namespace {

constexpr int kDays = 7;  // of the after-window
constexpr int kBeforeDays = 28;
constexpr int64_t kBeforeEnds = 1;   // that day before the boot is not whole
constexpr int64_t kAfterBegins = 2;  // days after the day of the boot
constexpr int64_t kLaterBegins = 7;  // when uptimes are not matched
constexpr int64_t kRebootDays = 3;   // around the wave's boots
constexpr size_t kMinRebooted = 8;

int64_t WeekOf(int64_t day) { return (day + 3) / 7; }  // 1970-01-01: Thursday

std::string UptimeBucket(int64_t days) {
  return days < 7 ? "under 7 days" : days < 30 ? "under 30 days" : "longer";
}

// A history in memory, as a reader.
class HistoryReader : public EvidenceReader {
 public:
  explicit HistoryReader(const HostHistory& history) : boots_(history.boots) {
    for (const HostBoot& boot : history.boots) {
      hosts_[boot.host_id].boots.push_back(boot);
    }
    for (const HostDay& day : history.days) {
      hosts_[day.host_id].days.push_back(day);
    }
    for (const HostDayCell& cell : history.cells) {
      hosts_[cell.host_id].cells.push_back(cell);
    }
  }
  absl::StatusOr<std::vector<HostBoot>> Boots() override { return boots_; }
  absl::StatusOr<HostHistory> Host(const std::string& host_id,
                                   int64_t /*first_day*/,
                                   int64_t /*last_day*/) override {
    return hosts_[host_id];
  }

 private:
  const std::vector<HostBoot>& boots_;
  std::map<std::string, HostHistory> hosts_;
};

class Assembly {
 public:
  Assembly(EvidenceReader* reader, const std::string& kernel_base,
           const std::string& kernel_new, int64_t today,
           const RolloutWindows& windows)
      : reader_(reader),
        base_(kernel_base),
        new_(kernel_new),
        today_(today),
        windows_(windows) {}

  absl::StatusOr<Rollout> Run() {
    if (absl::Status s = ReadBoots(); !s.ok()) return s;
    FindUpgrades();
    FindControls();
    rollout_.kernel_base = base_;
    rollout_.kernel_new = new_;
    const auto rebooted = static_cast<size_t>(
        std::count_if(rollout_.hosts.begin(), rollout_.hosts.end(),
                      [](const HostChange& host) {
                        return host.arm == Arm::kControl && host.rebooted;
                      }));
    const bool any_control = std::any_of(
        rollout_.hosts.begin(), rollout_.hosts.end(),
        [](const HostChange& host) { return host.arm == Arm::kControl; });
    rollout_.uptime_unmatched =
        any_control &&
        (rebooted < kMinRebooted || windows_.after_first_day.has_value());
    if (windows_.boots_only) return std::move(rollout_);
    if (absl::Status s = FillWindows(); !s.ok()) return s;
    return std::move(rollout_);
  }

  // Hosts that ran the base build throughout, as if they had been candidates
  // for an upgrade on the last day that leaves an after-window.
  absl::StatusOr<Rollout> RunPlacebo(size_t max_hosts) {
    if (absl::Status s = ReadBoots(); !s.ok()) return s;
    const int64_t day = today_ - kAfterBegins - kDays + 1;
    rollout_.kernel_base = rollout_.kernel_new = base_;
    std::vector<HostChange> found;
    for (const auto& [id, boots] : hosts_) {
      if (!StaysOnBase(boots, day - kBeforeEnds - kDays, today_)) continue;
      HostChange host;
      host.host_id = id;
      host.boot_day = day;
      host.wave = WeekOf(day);
      host.build_before = host.build_after = base_;
      int64_t booted = boots.front().day;
      for (const HostBoot& boot : boots) {
        if (boot.day <= day) booted = boot.day;
      }
      host.keys["uptime"] = UptimeBucket(day - booted);
      found.push_back(std::move(host));
    }
    if (found.size() > max_hosts) {
      const auto place = [](const HostChange& host) {
        return std::make_pair(SeededRandom(HashOf(host.host_id)).Next(),
                              host.host_id);
      };
      std::sort(found.begin(), found.end(),
                [&](const HostChange& a, const HostChange& b) {
                  return place(a) < place(b);
                });
      found.resize(max_hosts);
    }
    rollout_.hosts = std::move(found);
    if (absl::Status s = FillWindows(); !s.ok()) return s;
    return std::move(rollout_);
  }

 private:
  absl::Status ReadBoots() {
    absl::StatusOr<std::vector<HostBoot>> boots = reader_->Boots();
    if (!boots.ok()) return boots.status();
    for (HostBoot& boot : *boots) {
      if (boot.day > today_ || windows_.without.count(boot.host_id) > 0) {
        continue;
      }
      hosts_[boot.host_id].push_back(std::move(boot));
    }
    for (auto& [id, host_boots] : hosts_) SortByDay(&host_boots);
    return absl::OkStatus();
  }

  // The first reboot from the base build into the new one, or a first boot that
  // anybody saw, into the new one.
  void FindUpgrades() {
    std::vector<int64_t> first_seen;  // days of boots
    for (const auto& [id, boots] : hosts_) {
      for (size_t i = 0; i < boots.size(); ++i) {
        const HostBoot& boot = boots[i];
        if (boot.kernel_release != new_) continue;
        const HostBoot* const before = i == 0 ? nullptr : &boots[i - 1];
        if (before != nullptr && before->kernel_release != base_) break;
        HostChange change;
        change.host_id = id;
        change.arm = Arm::kTreated;
        change.boot_day = boot.day;
        change.wave = WeekOf(boot.day);
        change.build_after = BuildOf(boot);
        if (before != nullptr) {
          change.build_before = BuildOf(*before);
          change.keys["uptime"] = UptimeBucket(boot.day - before->day);
        }
        upgraded_.insert(id);
        waves_[change.wave].push_back(boot.day);
        (before == nullptr ? first_seen : rollout_.upgrade_days)
            .push_back(boot.day);
        rollout_.hosts.push_back(std::move(change));
        break;
      }
    }
    for (auto& [wave, days] : waves_) std::sort(days.begin(), days.end());
    // Without history of any host, boots are all there is.
    if (rollout_.upgrade_days.empty()) rollout_.upgrade_days = first_seen;
    std::sort(rollout_.upgrade_days.begin(), rollout_.upgrade_days.end());
  }

  // Until when a host ran the base build without a break from `first` on.
  bool StaysOnBase(const HostBoots& boots, int64_t first, int64_t last) const {
    const HostBoot* running = nullptr;
    for (const HostBoot& boot : boots) {
      if (boot.day > last) break;
      if (boot.day >= first && boot.kernel_release != base_) return false;
      if (boot.day <= first || running == nullptr) running = &boot;
    }
    return running != nullptr && running->day <= first &&
           running->kernel_release == base_;
  }

  void FindControls() {
    for (const auto& [id, boots] : hosts_) {
      std::vector<HostChange> candidates;
      bool rebooted = false;
      for (const auto& [wave, days] : waves_) {
        std::optional<HostChange> candidate = ControlIn(id, boots, wave, days);
        if (!candidate.has_value()) continue;
        if (candidate->rebooted && !rebooted) {
          rebooted = true;
          candidates.clear();
        }
        if (candidate->rebooted == rebooted) {
          candidates.push_back(std::move(*candidate));
        }
      }
      if (candidates.empty() || upgraded_.count(id) > 0) continue;
      const size_t pick =
          HashOf(id, HashOf(new_, HashOf(base_))) % candidates.size();
      rollout_.hosts.push_back(std::move(candidates[pick]));
    }
  }

  std::optional<HostChange> ControlIn(const std::string& id,
                                      const HostBoots& boots, int64_t wave,
                                      const std::vector<int64_t>& days) const {
    HostChange control;
    control.host_id = id;
    control.arm = Arm::kControl;
    control.wave = wave;
    control.boot_day = days[days.size() / 2];
    control.rebooted = false;
    for (size_t i = 1; i < boots.size(); ++i) {
      const HostBoot& boot = boots[i];
      if (boot.kernel_release != base_ ||
          boots[i - 1].kernel_release != base_ ||
          boot.day < days.front() - kRebootDays ||
          boot.day > days.back() + kRebootDays) {
        continue;
      }
      control.boot_day = boot.day;
      control.rebooted = true;
      break;
    }
    const int64_t first = control.boot_day - kBeforeEnds - kDays;
    const int64_t last =
        windows_.after_first_day.value_or(control.boot_day + kAfterBegins) +
        kDays - 1;
    if (!StaysOnBase(boots, first, std::min(last, today_))) return std::nullopt;
    const HostBoot* before = &boots.front();
    for (const HostBoot& boot : boots) {
      if (boot.day < control.boot_day) before = &boot;
    }
    control.keys["uptime"] = UptimeBucket(control.boot_day - before->day);
    control.build_before = BuildOf(*before);
    control.build_after = control.build_before;
    return control;
  }

  absl::Status FillWindows() {
    const int64_t begins =
        rollout_.uptime_unmatched ? kLaterBegins : kAfterBegins;
    std::vector<HostChange> closed;
    for (HostChange& change : rollout_.hosts) {
      const int64_t after =
          windows_.after_first_day.value_or(change.boot_day + begins);
      if (after + kDays - 1 > today_ || after < change.boot_day + begins) {
        rollout_.hosts_waiting += change.arm == Arm::kTreated;
        continue;
      }
      const int64_t before = change.boot_day - kBeforeEnds - kBeforeDays;
      absl::StatusOr<HostHistory> history =
          reader_->Host(change.host_id, before, today_);
      if (!history.ok()) return history.status();
      FillKeys(&history->boots, &change);
      const HostRows rows(*history, today_);
      change.before = rows.WindowOf(base_, before, kBeforeDays);
      change.after = rows.WindowOf(change.arm == Arm::kTreated ? new_ : base_,
                                   after, kDays);
      change.vanished = !rows.MeasuredFrom(after + kDays / 2 + 1);
      if (change.vanished) change.after.reset();
      closed.push_back(std::move(change));
    }
    rollout_.hosts = std::move(closed);
    return absl::OkStatus();
  }

  // The keys as they were before the reboot, and what it changed.
  static void FillKeys(HostBoots* boots, HostChange* change) {
    SortByDay(boots);
    const HostBoot* before = nullptr;
    const HostBoot* after = nullptr;
    for (const HostBoot& boot : *boots) {
      if (boot.day >= change->boot_day) {
        after = &boot;
        break;
      }
      before = &boot;
    }
    const HostBoot* const known = before != nullptr ? before : after;
    if (known == nullptr) return;
    change->keys.insert(known->keys.begin(), known->keys.end());
    if (before == nullptr || after == nullptr || !change->rebooted) return;
    change->co_changes = ChangedFacts(*before, *after);
  }

  EvidenceReader* const reader_;
  const std::string base_;
  const std::string new_;
  const int64_t today_;
  const RolloutWindows windows_;
  std::map<std::string, HostBoots> hosts_;
  Rollout rollout_;
  std::set<std::string> upgraded_;
  std::map<int64_t, std::vector<int64_t>> waves_;  // boot days of upgrades
};

}  // namespace

absl::StatusOr<Rollout> RolloutOf(EvidenceReader* reader,
                                  const std::string& kernel_base,
                                  const std::string& kernel_new, int64_t today,
                                  const RolloutWindows& windows) {
  return Assembly(reader, kernel_base, kernel_new, today, windows).Run();
}

Rollout RolloutOf(const HostHistory& history, const std::string& kernel_base,
                  const std::string& kernel_new, int64_t today) {
  HistoryReader reader(history);
  // What reads memory does not fail.
  return *RolloutOf(&reader, kernel_base, kernel_new, today, {});
}

int64_t DaysToClose(const Rollout& rollout) {
  return (rollout.uptime_unmatched ? kLaterBegins : kAfterBegins) + kDays - 1;
}

absl::StatusOr<Rollout> PlaceboOf(EvidenceReader* reader,
                                  const std::string& kernel, int64_t today,
                                  const RolloutWindows& windows,
                                  size_t max_hosts) {
  return Assembly(reader, kernel, /*kernel_new=*/"", today, windows)
      .RunPlacebo(max_hosts);
}

}  // namespace swaplock
