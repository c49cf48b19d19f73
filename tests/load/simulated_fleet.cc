#include "tests/load/simulated_fleet.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr int kWindowDays = 7;
constexpr double kOperationsPerDay = 1e6;
constexpr int64_t kFirstDay = 20'000;

const OperationKey kOperations[] = {
    {Subsystem::kZram, Operation::kRead},
    {Subsystem::kZram, Operation::kWrite},
    {Subsystem::kZswap, Operation::kLoad},
    {Subsystem::kZswap, Operation::kStore},
};

class Fleet {
 public:
  Fleet(const Scenario& scenario, uint64_t seed, bool with_days)
      : scenario_(scenario), with_days_(with_days), random_(seed) {}

  SimulatedFleet Draw() {
    SimulatedFleet fleet;
    fleet.rollout.kernel_base = "6.12.57";
    fleet.rollout.kernel_new = "6.18.15";
    for (int wave = 0; wave < scenario_.waves; ++wave) {
      shocks_.push_back(scenario_.calendar_sd * Normal());
    }
    for (const bool treated : {true, false}) {
      for (int i = 0; i < scenario_.hosts_per_arm; ++i) {
        AddHost(treated, i, &fleet);
      }
    }
    if (scenario_.worst_first > 0) UpgradeWorstFirst(&fleet);
    LetWorstVanish(&fleet);
    return fleet;
  }

 private:
  double Normal() { return normal_(random_); }

  double StudentOf3() {
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      const double z = Normal();
      squares += z * z;
    }
    return Normal() / std::sqrt(squares / 3);
  }

  uint64_t Poisson(double mean) {
    if (mean < 1e-9) return 0;
    if (mean > 1e4) {
      return static_cast<uint64_t>(
          std::lround(mean + std::sqrt(mean) * Normal()));
    }
    return std::poisson_distribution<uint64_t>(mean)(random_);
  }

  void AddHost(bool treated, int index, SimulatedFleet* fleet) {
    HostChange host;
    host.host_id = absl::StrCat(treated ? "new-" : "old-", index);
    host.arm = treated ? Arm::kTreated : Arm::kControl;
    host.wave = index % scenario_.waves;
    host.boot_day = kFirstDay + 7 * host.wave + (index / scenario_.waves) % 5;
    const double share =
        treated ? scenario_.class_b_treated : scenario_.class_b_controls;
    const bool class_b = index < std::lround(share * scenario_.hosts_per_arm);
    host.keys["cpu_family"] = class_b ? "b" : "a";
    host.rebooted =
        treated || index >= std::lround(scenario_.controls_not_rebooted *
                                        scenario_.hosts_per_arm);
    host.build_before = "base";
    host.build_after = treated ? "new" : "base";

    const double common = StudentOf3();
    double after = shocks_[static_cast<size_t>(host.wave)];
    if (class_b) after += std::log(1.5);
    if (host.rebooted) after += std::log(scenario_.fresh_boot);
    if (treated) after += std::log(scenario_.ratio);
    double always = class_b ? std::log(5.0) : 0;
    if (treated && index == 0) after += std::log(scenario_.crazy_host);

    host.before.emplace();
    host.before->first_day = host.boot_day - 1 - kRebootAt;
    host.before->days = kRebootAt;
    host.after.emplace();
    host.after->first_day = host.boot_day + 2;
    host.after->days = kWindowDays;
    for (HostWindow* window : {&*host.before, &*host.after}) {
      window->hours = 24.0 * window->days;
    }
    double exposure = treated ? scenario_.exposure : 1;
    if (treated && index < std::lround(scenario_.workload_changed *
                                       scenario_.hosts_per_arm)) {
      exposure *= 10;
      after += std::log(3.0);
    }
    HostSeries series;
    series.treated = treated;
    HostDays days;
    for (int o = 0; o < scenario_.operations; ++o) {
      const double own = scenario_.operations == 1
                             ? common
                             : 0.6 * common + 0.8 * StudentOf3();
      AddOperation(kOperations[o], always + Normal() - 0.5,
                   after + scenario_.noise * own, exposure, &host, &days,
                   o == 0 ? &series : nullptr);
    }
    if (treated) {
      for (const auto& [key, counts] : host.after->operations) {
        host.after->events_lost += static_cast<uint64_t>(
            scenario_.lost_events * static_cast<double>(counts.operations));
      }
    }
    fleet->rollout.hosts.push_back(std::move(host));
    fleet->series.push_back(std::move(series));
    if (with_days_) fleet->days.push_back(std::move(days));
  }

  void AddOperation(const OperationKey& key, double log_rate, double log_change,
                    double exposure, HostChange* host, HostDays* days,
                    HostSeries* series) {
    const double own_exposure = std::exp(Normal());
    const double drift = std::exp(0.2 * Normal());
    OperationCounts* const windows[] = {&host->before->operations[key],
                                        &host->after->operations[key]};
    for (OperationCounts* counts : windows) {
      counts->measured = {LockModel::kMutex, WaitSight::kExact, true, true};
    }
    std::gamma_distribution<double> burst(scenario_.burst_shape,
                                          1 / scenario_.burst_shape);
    const double rate = scenario_.mean_events /
                        (kWindowDays * kOperationsPerDay) * std::exp(log_rate);
    if (series != nullptr) series->log_change = log_change;
    for (int day = 0; day < kSeriesDays; ++day) {
      const bool after = day >= kRebootAt;
      const bool in_window = day < kRebootAt + kWindowDays;
      if (!in_window && series == nullptr) continue;
      const double operations = kOperationsPerDay * own_exposure *
                                (after ? drift * exposure : 1) *
                                std::exp(0.1 * Normal());
      const double today =
          std::min(scenario_.worst_rate,
                   rate * burst(random_) * (after ? std::exp(log_change) : 1));
      const uint64_t events = Poisson(today * operations);
      if (series != nullptr) {
        series->events.push_back(static_cast<double>(events));
        series->operations.push_back(operations);
      }
      if (!in_window) continue;
      OperationCounts counts;
      counts.measured = windows[after ? 1 : 0]->measured;
      counts.operations = static_cast<uint64_t>(operations);
      counts.waits_over_10ms = events;
      counts.episodes_over_10ms = events;
      counts.waits_over_100ms = events / 10;
      // Contention is much more frequent, with noise of its own.
      counts.contended = Poisson(0.25 / scenario_.worst_rate * today *
                                 operations * std::exp(0.3 * Normal()));
      counts.waits_over_1ms = 3 * events;
      const auto runnable_ms =
          static_cast<double>(events) * 20 * std::exp(0.3 * Normal());
      counts.runnable_ns = static_cast<uint64_t>(1e6 * runnable_ms);
      if (events > 0) counts.longest_runnable_ns = 40'000'000;
      counts.hold_ns = static_cast<uint64_t>(operations * 20'000);
      counts.timed_operations = static_cast<uint64_t>(operations);
      counts.slow_operations = events;
      Add(counts, windows[after ? 1 : 0]);
      if (with_days_) (*days)[key].push_back(counts);
    }
  }

  static void Add(const OperationCounts& day, OperationCounts* window) {
    window->operations += day.operations;
    window->contended += day.contended;
    window->waits_over_1ms += day.waits_over_1ms;
    window->waits_over_10ms += day.waits_over_10ms;
    window->waits_over_100ms += day.waits_over_100ms;
    window->episodes_over_10ms += day.episodes_over_10ms;
    window->hold_ns += day.hold_ns;
    window->runnable_ns += day.runnable_ns;
    window->longest_runnable_ns =
        std::max(window->longest_runnable_ns, day.longest_runnable_ns);
    window->timed_operations += day.timed_operations;
    window->slow_operations += day.slow_operations;
  }

  // Deals the arms anew by the rate of the last week before.
  void UpgradeWorstFirst(SimulatedFleet* fleet) {
    std::vector<std::pair<double, size_t>> rates;
    for (size_t i = 0; i < fleet->series.size(); ++i) {
      double events = 0;
      double operations = 0;
      for (size_t day = kRebootAt - kWindowDays; day < kRebootAt; ++day) {
        events += fleet->series[i].events[day];
        operations += fleet->series[i].operations[day];
      }
      rates.emplace_back(events / operations, i);
    }
    std::sort(rates.rbegin(), rates.rend());
    std::uniform_real_distribution<double> uniform;
    for (size_t rank = 0; rank < rates.size(); ++rank) {
      const bool among_worst = rank < rates.size() / 2;
      const bool treated =
          (uniform(random_) < scenario_.worst_first) == among_worst;
      HostChange& host = fleet->rollout.hosts[rates[rank].second];
      host.arm = treated ? Arm::kTreated : Arm::kControl;
      host.build_after = treated ? "new" : "base";
      fleet->series[rates[rank].second].treated = treated;
    }
  }

  // The upgraded hosts with the highest rates are drained and fall silent.
  void LetWorstVanish(SimulatedFleet* fleet) {
    const auto vanishing = static_cast<size_t>(
        std::lround(scenario_.attrition * scenario_.hosts_per_arm));
    if (vanishing == 0) return;
    std::vector<size_t> treated;
    for (size_t i = 0; i < fleet->rollout.hosts.size(); ++i) {
      if (fleet->rollout.hosts[i].arm == Arm::kTreated) treated.push_back(i);
    }
    const auto rate = [&](size_t i) {
      const OperationCounts& counts =
          fleet->rollout.hosts[i].after->operations.at(kOperations[0]);
      return static_cast<double>(counts.waits_over_10ms) /
             static_cast<double>(counts.operations);
    };
    std::sort(treated.begin(), treated.end(),
              [&](size_t i, size_t j) { return rate(i) > rate(j); });
    treated.resize(vanishing);
    std::sort(treated.rbegin(), treated.rend());
    for (const size_t i : treated) {
      fleet->rollout.hosts[i].vanished = true;
      fleet->rollout.hosts[i].after.reset();
      fleet->series.erase(fleet->series.begin() +
                          static_cast<std::ptrdiff_t>(i));
    }
  }

  const Scenario& scenario_;
  const bool with_days_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> shocks_;
};

}  // namespace

SimulatedFleet DrawFleet(const Scenario& scenario, uint64_t seed,
                         bool with_days) {
  return Fleet(scenario, seed, with_days).Draw();
}

}  // namespace swaplock
