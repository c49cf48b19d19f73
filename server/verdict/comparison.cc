#include "server/verdict/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/verdict/outcome_events.h"

namespace swaplock {
namespace {

// Whether a host measured the outcome alike in both windows.
bool Alike(VerdictOutcome outcome, const Measured& a, const Measured& b) {
  switch (outcome) {
    case VerdictOutcome::kSlowOperations:
      return true;
    case VerdictOutcome::kRunnable:
      return a.lock_model == b.lock_model || NeverWaits(a.lock_model) ||
             NeverWaits(b.lock_model);
    default:
      return a.waits == b.waits || a.waits == WaitSight::kImpossible ||
             b.waits == WaitSight::kImpossible;
  }
}

const OperationCounts* CountsOf(const std::optional<HostWindow>& window,
                                const OperationKey& operation) {
  if (!window.has_value()) return nullptr;
  const auto it = window->operations.find(operation);
  return it == window->operations.end() ? nullptr : &it->second;
}

bool EnoughOf(const HostWindow& window, const EventsPer& events,
              const OperationCounts& counts, const RolloutRules& rules) {
  return window.hours >= rules.min_hours && events.exposure > 0 &&
         counts.operations >= rules.min_operations;
}

class Comparer {
 public:
  Comparer(const Rollout& rollout, const OperationKey& operation,
           VerdictOutcome outcome, const RolloutRules& rules)
      : rollout_(rollout),
        operation_(operation),
        outcome_(outcome),
        rules_(rules) {}

  Comparison Run() {
    Comparison out = Gather(Design::kBeforeAfterWithControls);
    const auto enough = [&](const Comparison& c, bool both) {
      return c.treated.hosts >= rules_.min_hosts &&
             (!both || c.controls.hosts >= rules_.min_hosts);
    };
    if (enough(out, true)) return out;
    Comparison parallel = Gather(Design::kParallelGroups);
    if (enough(parallel, true)) {
      parallel.not_comparable = NotSeparable(parallel);
      return parallel;
    }
    if (enough(out, false)) {
      out.design = Design::kBeforeAfter;
      return out;
    }
    // Neither is enough: the one that says more of what is missing.
    const auto size = [](const Comparison& c) {
      return std::min(c.treated.hosts, c.controls.hosts);
    };
    return size(parallel) > size(out) ? parallel : out;
  }

 private:
  ArmTotals& TotalsOf(Comparison* c, const HostChange& host) const {
    return host.arm == Arm::kTreated ? c->treated : c->controls;
  }

  Comparison Gather(Design design) const {
    Comparison out;
    out.design = design;
    const bool paired = design == Design::kBeforeAfterWithControls;
    std::set<std::string> lock_models[2];
    for (const HostChange& host : rollout_.hosts) {
      ArmTotals& totals = TotalsOf(&out, host);
      if (host.vanished) {
        ++totals.vanished;
        continue;
      }
      ComparedHost compared;
      compared.host = &host;
      compared.after_counts = CountsOf(host.after, operation_);
      if (paired) compared.before_counts = CountsOf(host.before, operation_);
      if (compared.after_counts == nullptr ||
          (paired && compared.before_counts == nullptr)) {
        continue;  // the host does not have this operation
      }
      if (paired && host.arm == Arm::kControl && !host.rebooted &&
          !rollout_.uptime_unmatched) {
        ++totals.left_out_not_rebooted;
        continue;
      }
      if (!Fill(paired, &compared)) {
        ++totals.left_out_measured_otherwise;
        if (host.arm == Arm::kTreated && paired) {
          lock_models[0].emplace(
              Name(compared.before_counts->measured.lock_model));
          lock_models[1].emplace(
              Name(compared.after_counts->measured.lock_model));
        }
        continue;
      }
      if (!EnoughOf(*host.after, compared.after, *compared.after_counts,
                    rules_) ||
          (paired && !EnoughOf(*host.before, compared.before,
                               *compared.before_counts, rules_))) {
        ++totals.left_out_few_operations;
        continue;
      }
      out.hosts.push_back(compared);
    }
    if (paired) {
      LeaveOutOtherWorkloads(&out);
    } else {
      LeaveOutOtherSights(&out);
    }
    for (const ComparedHost& host : out.hosts) Count(host, &out);
    ExplainEmptyArms(lock_models, &out);
    return out;
  }

  bool Fill(bool paired, ComparedHost* compared) const {
    const std::optional<EventsPer> after =
        EventsOf(outcome_, *compared->host->after, *compared->after_counts);
    if (!after.has_value()) return false;
    compared->after = *after;
    if (!paired) return true;
    const std::optional<EventsPer> before =
        EventsOf(outcome_, *compared->host->before, *compared->before_counts);
    if (!before.has_value()) return false;
    compared->before = *before;
    return Alike(outcome_, compared->before_counts->measured,
                 compared->after_counts->measured);
  }

  // A host whose operations changed much more than its arm's has other work.
  void LeaveOutOtherWorkloads(Comparison* c) const {
    std::vector<double> changes[2];
    const auto change = [](const ComparedHost& host) {
      return std::log(static_cast<double>(host.after_counts->operations) /
                      static_cast<double>(host.before_counts->operations));
    };
    for (const ComparedHost& host : c->hosts) {
      changes[host.treated()].push_back(change(host));
    }
    double median[2] = {0, 0};
    for (const int arm : {0, 1}) {
      std::sort(changes[arm].begin(), changes[arm].end());
      if (!changes[arm].empty()) {
        median[arm] = changes[arm][changes[arm].size() / 2];
      }
    }
    std::vector<ComparedHost> kept;
    for (const ComparedHost& host : c->hosts) {
      if (std::abs(change(host) - median[host.treated()]) >
          std::log(rules_.workload_ratio)) {
        ++TotalsOf(c, *host.host).left_out_other_workload;
      } else {
        kept.push_back(host);
      }
    }
    c->hosts = std::move(kept);
  }

  // Different hosts are only compared when they measured alike: in the way that
  // leaves most of them.
  void LeaveOutOtherSights(Comparison* c) const {
    if (outcome_ == VerdictOutcome::kSlowOperations) return;
    const bool holds = outcome_ == VerdictOutcome::kRunnable;
    const auto sight = [&](const ComparedHost& host) {
      const Measured& measured = host.after_counts->measured;
      return holds ? static_cast<int>(measured.lock_model)
                   : static_cast<int>(
                         measured.waits.value_or(WaitSight::kImpossible));
    };
    const auto any = [&](const ComparedHost& host) {
      return holds
                 ? NeverWaits(host.after_counts->measured.lock_model)
                 : host.after_counts->measured.waits == WaitSight::kImpossible;
    };
    std::map<int, std::pair<uint64_t, uint64_t>> arms;
    for (const ComparedHost& host : c->hosts) {
      if (any(host)) continue;
      auto& arm = arms[sight(host)];
      ++(host.treated() ? arm.first : arm.second);
    }
    int best = -1;
    std::pair<uint64_t, uint64_t> most = {0, 0};
    for (const auto& [how, arm] : arms) {
      const std::pair<uint64_t, uint64_t> size = {
          std::min(arm.first, arm.second), arm.first + arm.second};
      if (size > most) {
        most = size;
        best = how;
      }
    }
    std::vector<ComparedHost> kept;
    for (const ComparedHost& host : c->hosts) {
      if (any(host) || sight(host) == best) {
        kept.push_back(host);
      } else {
        ++TotalsOf(c, *host.host).left_out_measured_otherwise;
      }
    }
    c->hosts = std::move(kept);
  }

  void Count(const ComparedHost& host, Comparison* c) const {
    ArmTotals& totals = TotalsOf(c, *host.host);
    ++totals.hosts;
    totals.hours_after += host.host->after->hours;
    totals.operations_after +=
        static_cast<double>(host.after_counts->operations);
    totals.events_after += host.after.events;
    if (outcome_ == VerdictOutcome::kWaitsOver10ms) {
      totals.episodes_after +=
          static_cast<double>(host.after_counts->episodes_over_10ms);
    }
    if (host.before_counts == nullptr) return;
    totals.hours_before += host.host->before->hours;
    totals.operations_before +=
        static_cast<double>(host.before_counts->operations);
    totals.events_before += host.before.events;
    if (outcome_ == VerdictOutcome::kWaitsOver10ms) {
      totals.episodes_before +=
          static_cast<double>(host.before_counts->episodes_over_10ms);
    }
  }

  void ExplainEmptyArms(const std::set<std::string>* lock_models,
                        Comparison* c) const {
    const auto spoilt = [&](const ArmTotals& arm) {
      return arm.hosts < rules_.min_hosts &&
             arm.left_out_measured_otherwise > 0 &&
             arm.hosts + arm.left_out_measured_otherwise >= rules_.min_hosts;
    };
    if (!spoilt(c->treated) && !spoilt(c->controls)) return;
    c->not_comparable = absl::StrFormat(
        "%d of %d upgraded hosts and %d of %d others measured this in one way "
        "throughout",
        c->treated.hosts,
        c->treated.hosts + c->treated.left_out_measured_otherwise,
        c->controls.hosts,
        c->controls.hosts + c->controls.left_out_measured_otherwise);
    if (outcome_ == VerdictOutcome::kRunnable && lock_models[0].size() == 1 &&
        lock_models[1].size() == 1 && lock_models[0] != lock_models[1]) {
      c->not_comparable = absl::StrCat(
          "the lock changed from ", *lock_models[0].begin(), " to ",
          *lock_models[1].begin(), ", and holds of different locks differ");
    }
  }

  // A property that all new hosts have and no old one cannot be told from the
  // kernel.
  std::string NotSeparable(const Comparison& c) const {
    for (const char* const key : kStrataKeys) {
      std::set<std::string> values[2];
      for (const ComparedHost& host : c.hosts) {
        const auto it = host.host->keys.find(key);
        values[host.treated()].insert(it == host.host->keys.end() ? ""
                                                                  : it->second);
      }
      std::vector<std::string> common;
      std::set_intersection(values[0].begin(), values[0].end(),
                            values[1].begin(), values[1].end(),
                            std::back_inserter(common));
      if (common.empty()) {
        return absl::StrFormat(
            "kernel and %s changed together and cannot be separated (%s "
            "against %s)",
            key, *values[1].begin(), *values[0].begin());
      }
    }
    return "";
  }

  const Rollout& rollout_;
  const OperationKey& operation_;
  VerdictOutcome outcome_;
  const RolloutRules& rules_;
};

double Percent(double part, double all) {
  return all > 0 ? 100 * part / all : 0;
}

Gate LossGate(const Comparison& c, const RolloutRules& rules) {
  double lost[2][2] = {};  // [treated][after]
  double seen[2][2] = {};
  for (const ComparedHost& host : c.hosts) {
    for (const bool after : {false, true}) {
      const auto& window = after ? host.host->after : host.host->before;
      if (!window.has_value()) continue;
      lost[host.treated()][after] += static_cast<double>(window->events_lost);
      for (const auto& [key, counts] : window->operations) {
        seen[host.treated()][after] += static_cast<double>(counts.operations);
      }
    }
  }
  double percent[2][2];
  Gate gate = {"loss", true, ""};
  for (const int arm : {0, 1}) {
    for (const int after : {0, 1}) {
      percent[arm][after] =
          Percent(lost[arm][after], lost[arm][after] + seen[arm][after]);
      gate.passed &= percent[arm][after] < rules.max_lost_percent;
    }
  }
  // What counts is a loss that one build or one arm has and the other has not.
  const auto differ = [&](double a, double b) {
    return std::abs(a - b) > rules.max_lost_points;
  };
  if (c.design != Design::kBeforeAfter) {
    gate.passed &= !differ(percent[1][1], percent[0][1]);
  }
  if (c.design != Design::kParallelGroups) {
    gate.passed &= !differ(percent[1][1], percent[1][0]);
  }
  gate.value = absl::StrFormat(
      "upgraded hosts lost %.2f %% of events before and %.2f %% after, others "
      "%.2f %% and %.2f %%",
      percent[1][0], percent[1][1], percent[0][0], percent[0][1]);
  return gate;
}

// A share of hosts that differs between arms by more than chance and the limit.
Gate ShareGate(const char* name, const char* what, uint64_t treated,
               uint64_t of_treated, uint64_t controls, uint64_t of_controls,
               const RolloutRules& rules) {
  Gate gate = {name, true, ""};
  const auto a = static_cast<double>(treated);
  const auto b = static_cast<double>(controls);
  const auto m = static_cast<double>(of_treated);
  const auto n = static_cast<double>(of_controls);
  const double points = Percent(a, m) - Percent(b, n);
  // One host of a small arm is no trend.
  const bool several =
      m > 0 && n > 0 && (points > 0 ? a - b / n * m : b - a / m * n) > 1;
  gate.passed = std::abs(points) <= rules.max_attrition_points || !several;
  gate.value =
      absl::StrFormat("%d of %d upgraded hosts and %d of %d others %s", treated,
                      of_treated, controls, of_controls, what);
  return gate;
}

Gate CensoringGate(const Comparison& c, const RolloutRules& rules) {
  double censored[2] = {};
  double episodes[2] = {};
  for (const ComparedHost& host : c.hosts) {
    const OperationCounts& counts = *host.after_counts;
    censored[host.treated()] += static_cast<double>(counts.censored);
    episodes[host.treated()] += static_cast<double>(
        std::max(counts.waits_over_10ms, counts.episodes_over_10ms));
  }
  double percent[2];
  Gate gate = {"censoring", true, ""};
  for (const int arm : {0, 1}) {
    percent[arm] = Percent(censored[arm], episodes[arm]);
  }
  // A single hold without an end says nothing of an arm.
  if (censored[0] + censored[1] >= 3) {
    gate.passed =
        std::max(percent[0], percent[1]) <= rules.max_censored_percent &&
        std::abs(percent[0] - percent[1]) <= rules.max_censored_points;
  }
  gate.value = absl::StrFormat(
      "the end of %.2f %% of waits over 10 ms was not seen on upgraded hosts, "
      "of %.2f %% on others",
      percent[1], percent[0]);
  return gate;
}

}  // namespace

Comparison Compare(const Rollout& rollout, const OperationKey& operation,
                   VerdictOutcome outcome, const RolloutRules& rules) {
  return Comparer(rollout, operation, outcome, rules).Run();
}

std::vector<Gate> CheckGates(const Comparison& c, const RolloutRules& rules) {
  std::vector<Gate> gates;
  gates.push_back(LossGate(c, rules));
  const auto all = [](const ArmTotals& arm, uint64_t left_out) {
    return arm.hosts + left_out;
  };
  if (c.design != Design::kBeforeAfter) {
    gates.push_back(ShareGate("attrition", "fell silent", c.treated.vanished,
                              all(c.treated, c.treated.vanished),
                              c.controls.vanished,
                              all(c.controls, c.controls.vanished), rules));
    gates.push_back(
        ShareGate("workload", "changed their number of operations fourfold",
                  c.treated.left_out_other_workload,
                  all(c.treated, c.treated.left_out_other_workload),
                  c.controls.left_out_other_workload,
                  all(c.controls, c.controls.left_out_other_workload), rules));
  }
  gates.push_back(CensoringGate(c, rules));
  return gates;
}

}  // namespace swaplock
