#include "server/verdict/evidence_beside.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "server/verdict/distributions.h"
#include "server/verdict/verdict_sentence.h"

namespace swaplock {
namespace {

constexpr size_t kTopHosts = 5;
constexpr uint64_t kHostsForFleetInterval = 100;

// ln of (sum K1 / sum E1) / (sum K0 / sum E0) of one arm, and its variance
// between hosts.
struct LogTotal {
  double value = kNoNumber;
  double variance = kNoNumber;
};

LogTotal LogTotalOf(const Comparison& c, bool treated, bool paired) {
  EventsPer before;
  EventsPer after;
  double hosts = 0;
  for (const ComparedHost& host : c.hosts) {
    if (host.treated() != treated) continue;
    ++hosts;
    before.events += host.before.events;
    before.exposure += host.before.exposure;
    after.events += host.after.events;
    after.exposure += host.after.exposure;
  }
  if (!(after.events > 0) || (paired && !(before.events > 0)) || hosts < 2) {
    return {};
  }
  LogTotal out;
  const auto rate = [](const EventsPer& e) { return e.events / e.exposure; };
  out.value = std::log(rate(after)) - (paired ? std::log(rate(before)) : 0);
  double squares = 0;
  for (const ComparedHost& host : c.hosts) {
    if (host.treated() != treated) continue;
    double pull =
        (host.after.events - rate(after) * host.after.exposure) / after.events;
    if (paired) {
      pull -= (host.before.events - rate(before) * host.before.exposure) /
              before.events;
    }
    squares += pull * pull;
  }
  out.variance = hosts / (hosts - 1) * squares;
  return out;
}

void FillFleet(const Comparison& c, VerdictRecord* r) {
  if (c.design == Design::kBeforeAfter) return;
  const bool paired = c.design == Design::kBeforeAfterWithControls;
  const LogTotal treated = LogTotalOf(c, true, paired);
  const LogTotal controls = LogTotalOf(c, false, paired);
  const double difference = treated.value - controls.value;
  if (!std::isfinite(difference)) return;
  r->fleet.ratio = std::exp(difference);
  const uint64_t fewest = std::min(r->treated.hosts, r->controls.hosts);
  if (fewest < kHostsForFleetInterval) return;
  const double half = StudentQuantile(0.95, static_cast<double>(fewest - 1)) *
                      std::sqrt(treated.variance + controls.variance);
  r->fleet.lower = std::exp(difference - half);
  r->fleet.upper = std::exp(difference + half);
}

void FillTopHosts(const Comparison& c, const RolloutRules& rules,
                  VerdictRecord* r) {
  for (const ComparedHost& host : c.hosts) {
    const double all =
        host.treated() ? r->treated.events_after : r->controls.events_after;
    if (!(all > 0) || !(host.after.events > 0)) continue;
    TopHost top;
    top.host_id = host.host->host_id;
    top.arm = host.host->arm;
    top.events_after = host.after.events;
    top.share = host.after.events / all;
    top.ratio = host.before_counts == nullptr
                    ? kNoNumber
                    : std::exp(ChangeOfLogRate(host.before, host.after));
    r->top_hosts.push_back(std::move(top));
  }
  std::sort(r->top_hosts.begin(), r->top_hosts.end(),
            [](const TopHost& a, const TopHost& b) {
              return std::tie(b.share, a.host_id) <
                     std::tie(a.share, b.host_id);
            });
  if (r->top_hosts.size() > kTopHosts) r->top_hosts.resize(kTopHosts);
  if (!r->top_hosts.empty() &&
      r->top_hosts[0].share > rules.single_host_share) {
    r->findings.push_back(absl::StrFormat(
        "Host %s alone has %.0f %% of what the %s hosts counted: totals rest "
        "on "
        "it, while the verdict is about the typical host.",
        r->top_hosts[0].host_id, 100 * r->top_hosts[0].share,
        r->top_hosts[0].arm == Arm::kTreated ? "upgraded" : "other"));
  }
}

void FillChanges(const Rollout& rollout, const Comparison& c,
                 VerdictRecord* r) {
  std::set<std::string> builds[2];
  std::map<std::string, uint64_t> changes[2];
  std::map<std::string, uint64_t> models[2];
  for (const ComparedHost& host : c.hosts) {
    for (const std::string& change : host.host->co_changes) {
      ++changes[host.treated()][change];
    }
    if (!host.treated()) {
      if (c.design == Design::kParallelGroups) {
        builds[0].insert(host.host->build_after);
        ++models[0][std::string(Name(host.after_counts->measured.lock_model))];
      }
      continue;
    }
    builds[1].insert(host.host->build_after);
    ++models[1][std::string(Name(host.after_counts->measured.lock_model))];
    if (host.before_counts != nullptr) {
      builds[0].insert(host.host->build_before);
      ++models[0][std::string(Name(host.before_counts->measured.lock_model))];
    }
  }
  r->builds_before.assign(builds[0].begin(), builds[0].end());
  r->builds_after.assign(builds[1].begin(), builds[1].end());
  for (const auto& [change, hosts] : changes[1]) {
    if (2 * hosts >= r->treated.hosts &&
        2 * changes[0][change] < std::max<uint64_t>(r->controls.hosts, 1)) {
      r->co_changes.push_back(change);
    }
  }
  const auto most = [](const std::map<std::string, uint64_t>& counts) {
    std::string name;
    uint64_t largest = 0;
    for (const auto& [model, hosts] : counts) {
      if (hosts > largest) {
        largest = hosts;
        name = model;
      }
    }
    return name;
  };
  r->lock_model_base = most(models[0]);
  r->lock_model_new = most(models[1]);
  if (!rollout.builds_between.empty()) {
    r->findings.push_back(absl::StrFormat(
        "The change came somewhere after %s and up to %s: %d builds between "
        "them ran on no host here.",
        r->kernel_base, r->kernel_new, rollout.builds_between.size()));
  }
  if (rollout.uptime_unmatched) {
    r->findings.push_back(
        "UPTIME_UNMATCHED: too few hosts rebooted into the old kernel at the "
        "same time; days 7 to 14 after the upgrade are compared.");
  }
}

void FillExposure(const Comparison& c, VerdictRecord* r) {
  if (c.design != Design::kBeforeAfterWithControls) return;
  const auto growth = [](const ArmTotals& arm) {
    return arm.hours_before > 0 && arm.hours_after > 0 &&
                   arm.operations_before > 0
               ? arm.operations_after / arm.hours_after /
                     (arm.operations_before / arm.hours_before)
               : kNoNumber;
  };
  const double treated = growth(r->treated);
  const double controls = growth(r->controls);
  if (std::abs(std::log(treated / controls)) > std::log(1.10)) {
    r->findings.push_back(absl::StrFormat(
        "Operations per hour changed %.2f times on upgraded hosts and %.2f "
        "times on others.",
        treated, controls));
  }
}

// Holds of the upgraded hosts, before and after.
struct Holds {
  double count[2] = {};
  double hold_ns[2] = {};
  double runnable_ns[2] = {};

  double ShareOf(int after) const {
    return hold_ns[after] > 0 ? runnable_ns[after] / hold_ns[after] : kNoNumber;
  }
  double MeanOf(int after) const {
    return count[after] > 0 ? hold_ns[after] / count[after] : kNoNumber;
  }
};

// Operations of a subsystem share its locks: what one waits behind is the holds
// of all of them. What holders do is a matter of their own operation.
Holds HoldsBehind(const Comparison& c, const VerdictRecord& r) {
  Holds holds;
  for (const ComparedHost& host : c.hosts) {
    if (!host.treated()) continue;
    for (const int after : {0, 1}) {
      const auto& window = after == 1 ? host.host->after : host.host->before;
      if (!window.has_value()) continue;
      for (const auto& [key, counts] : window->operations) {
        if (key.first != r.subsystem || !counts.measured.parts ||
            (r.outcome == VerdictOutcome::kRunnable &&
             key.second != r.operation)) {
          continue;
        }
        holds.count[after] += static_cast<double>(counts.operations);
        holds.hold_ns[after] += static_cast<double>(counts.hold_ns);
        holds.runnable_ns[after] += static_cast<double>(counts.runnable_ns);
      }
    }
  }
  return holds;
}

void FillRunnableShare(const Comparison& c, VerdictRecord* r) {
  const Holds holds = HoldsBehind(c, *r);
  r->runnable_share_before = holds.ShareOf(0);
  r->runnable_share_after = holds.ShareOf(1);
  const bool worse = r->kind == VerdictKind::kRegression;
  if ((!worse && r->kind != VerdictKind::kImprovement) ||
      !RunnablePartMadeIt(*r)) {
    return;
  }
  const double change = holds.MeanOf(1) - holds.MeanOf(0);
  const double runnable = holds.runnable_ns[1] / holds.count[1] -
                          holds.runnable_ns[0] / holds.count[0];
  if (!(worse ? change > 0 : change < 0)) return;
  r->findings.push_back(absl::StrFormat(
      "On upgraded hosts a hold of %s's lock took %.3g us on average before "
      "and %.3g us after; %.0f %% of the difference is time in which its "
      "holder was runnable and not running.",
      Name(r->subsystem), holds.MeanOf(0) / 1e3, holds.MeanOf(1) / 1e3,
      std::min(100.0, 100 * runnable / change)));
}

void CompareSigns(VerdictRecord* r) {
  for (const SecondaryResult& s : r->secondary) {
    if (s.outcome != VerdictOutcome::kWaitsOver10msPerHour) continue;
    const bool fewer_per_operation = r->effect.upper < 1;
    const bool more_per_operation = r->effect.lower > 1;
    if ((fewer_per_operation && s.effect.lower > 1) ||
        (more_per_operation && s.effect.upper < 1)) {
      r->findings.push_back(absl::StrFormat(
          "Per operation there are %.3g times as many, per host and hour %.3g: "
          "the number of operations changed.",
          r->effect.ratio, s.effect.ratio));
    }
  }
}

void FillQuantiles(const Comparison& c, VerdictRecord* r) {
  std::vector<HostBuckets> buckets[2][2];  // [treated][after]
  bool any = false;
  for (const ComparedHost& host : c.hosts) {
    if (host.before_counts == nullptr) return;
    buckets[host.treated()][0].push_back(host.before_counts->waits);
    buckets[host.treated()][1].push_back(host.after_counts->waits);
    any |= !host.after_counts->waits.empty();
  }
  if (!any) return;
  for (const double q : {0.99, 0.999}) {
    QuantileChange change;
    change.quantile = q;
    change.treated =
        RatioOf(QuantileOf(buckets[1][1], q), QuantileOf(buckets[1][0], q));
    change.controls =
        RatioOf(QuantileOf(buckets[0][1], q), QuantileOf(buckets[0][0], q));
    r->quantiles.push_back(std::move(change));
  }
}

void FillLongest(const Comparison& c, VerdictRecord* r) {
  std::vector<std::vector<uint64_t>> days[2];
  bool any = false;
  for (const ComparedHost& host : c.hosts) {
    std::vector<uint64_t> longest = host.after_counts->daily_longest_hold_ns;
    any |= !longest.empty();
    // Days without a hold are host-days too.
    longest.resize(std::max<size_t>(
        longest.size(), static_cast<size_t>(host.host->after->days)));
    days[host.treated()].push_back(std::move(longest));
  }
  if (!any) return;
  r->longest_treated = LongestOf1000HostDays(days[1], r->seed);
  r->longest_controls = LongestOf1000HostDays(days[0], r->seed);
}

}  // namespace

void DescribeBeside(const Rollout& rollout, const Comparison& comparison,
                    const RolloutRules& rules, VerdictRecord* record) {
  FillFleet(comparison, record);
  FillTopHosts(comparison, rules, record);
  FillChanges(rollout, comparison, record);
  FillExposure(comparison, record);
  FillRunnableShare(comparison, record);
  if (record->outcome != VerdictOutcome::kWaitsOver10ms) return;
  CompareSigns(record);
  FillQuantiles(comparison, record);
  FillLongest(comparison, record);
}

}  // namespace swaplock
