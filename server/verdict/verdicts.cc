#include "server/verdict/verdicts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/verdict/exposure.h"
#include "server/verdict/false_discovery.h"
#include "server/verdict/kernel_pairs.h"
#include "server/verdict/rank_test.h"

namespace swaplock {
namespace {

using Rates = std::vector<HostRate>;

// The hosts of both builds that measured waits alike.
struct Arms {
  std::map<std::string, HostRate> base;
  std::map<std::string, HostRate> newer;
  uint64_t left_out_base = 0;  // measured otherwise or not at all
  uint64_t left_out_newer = 0;
};

std::map<std::string, HostRate> HostsSeenBy(WaitSight sight,
                                            const Evidence& evidence) {
  std::map<std::string, HostRate> out;
  for (const WaitSight s : {sight, WaitSight::kImpossible}) {
    const auto it = evidence.hosts.find(s);
    if (it != evidence.hosts.end()) {
      out.insert(it->second.begin(), it->second.end());
    }
  }
  return out;
}

uint64_t AllHosts(const Evidence& evidence) {
  uint64_t count = evidence.unmeasured.size();
  for (const auto& [sight, hosts] : evidence.hosts) count += hosts.size();
  return count;
}

// The sight that leaves most hosts in the smaller arm, then most in all.
Arms ChooseArms(const Evidence& base, const Evidence& newer) {
  Arms best;
  for (const WaitSight sight :
       {WaitSight::kExact, WaitSight::kBracket, WaitSight::kContention}) {
    Arms arms = {HostsSeenBy(sight, base), HostsSeenBy(sight, newer), 0, 0};
    const auto size = [](const Arms& a) {
      return std::make_pair(std::min(a.base.size(), a.newer.size()),
                            a.base.size() + a.newer.size());
    };
    if (size(arms) > size(best)) best = std::move(arms);
  }
  best.left_out_base = AllHosts(base) - best.base.size();
  best.left_out_newer = AllHosts(newer) - best.newer.size();
  return best;
}

Rates WithEnoughOperations(const std::map<std::string, HostRate>& hosts,
                           uint64_t min_operations) {
  Rates out;
  for (const auto& [host_id, rate] : hosts) {
    if (rate.operations >= min_operations && rate.operations > 0) {
      out.push_back(rate);
    }
  }
  return out;
}

uint64_t Events(const Rates& rates) {
  uint64_t events = 0;
  for (const HostRate& rate : rates) events += rate.waits_over_10ms;
  return events;
}

uint64_t EventHosts(const Rates& rates) {
  return static_cast<uint64_t>(
      std::count_if(rates.begin(), rates.end(),
                    [](const HostRate& r) { return r.waits_over_10ms > 0; }));
}

std::vector<double> LogRates(const Rates& rates, double mean_operations) {
  std::vector<double> out;
  for (const HostRate& rate : rates) {
    out.push_back(std::log(static_cast<double>(rate.waits_over_10ms) /
                               static_cast<double>(rate.operations) +
                           0.5 / mean_operations));
  }
  return out;
}

// FNV-1a over the names, so that the same store gives the same verdict.
uint64_t SeedOf(const Verdict& verdict) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const absl::string_view text :
       {absl::string_view(verdict.kernel_base),
        absl::string_view(verdict.kernel_new), Name(verdict.subsystem),
        Name(verdict.operation), absl::string_view(verdict.outcome)}) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    hash = (hash ^ 0xff) * 0x100000001b3;
  }
  return hash;
}

std::string Subject(const Verdict& v) {
  return absl::StrCat(Name(v.subsystem), " ", Name(v.operation));
}

void Settle(VerdictKind kind, std::string reason, Verdict* verdict) {
  verdict->kind = kind;
  verdict->reason = std::move(reason);
}

// "12 against 10 hosts, p = 0.0003"
std::string Evidenced(const Verdict& v, const VerdictRules& rules) {
  return absl::StrFormat(
      "%.0f %% interval %.2f to %.2f, %d against %d hosts, "
      "p = %.2g",
      100 * (1 - 2 * rules.tail), v.ratio_lower, v.ratio_upper, v.hosts_base,
      v.hosts_new, v.p_value);
}

void WriteSentence(const VerdictRules& rules, Verdict* v) {
  const std::string subject = Subject(*v);
  switch (v->kind) {
    case VerdictKind::kRegression:
    case VerdictKind::kImprovement:
      v->sentence = absl::StrFormat(
          "%s is %s than %s for %s: %.2f times as many waits over 10 ms per "
          "operation (%s).",
          v->kernel_new,
          v->kind == VerdictKind::kRegression ? "worse" : "better",
          v->kernel_base, subject, v->ratio, Evidenced(*v, rules));
      return;
    case VerdictKind::kNoMaterialChange:
      v->sentence = absl::StrFormat(
          "%s and %s have as many waits over 10 ms per operation for %s, "
          "within %.0f %% (%s).",
          v->kernel_new, v->kernel_base, subject, 100 * (rules.margin - 1),
          Evidenced(*v, rules));
      return;
    case VerdictKind::kNotComparable:
      v->sentence =
          absl::StrFormat("%s cannot be compared with %s for %s: %s.",
                          v->kernel_new, v->kernel_base, subject, v->reason);
      return;
    default:
      v->sentence =
          absl::StrFormat("It is open whether %s differs from %s for %s: %s.",
                          v->kernel_new, v->kernel_base, subject, v->reason);
  }
}

// Everything but the kind of a tested verdict, which needs the whole family.
// Returns whether a test was made.
bool Examine(const Evidence& base, const Evidence& newer,
             const VerdictRules& rules, Verdict* v) {
  const Arms arms = ChooseArms(base, newer);
  const auto short_of_hosts = [&](size_t hosts, uint64_t left_out) {
    return hosts < rules.min_hosts && left_out > 0 &&
           (hosts == 0 || hosts + left_out >= rules.min_hosts);
  };
  v->hosts_base = arms.base.size();
  v->hosts_new = arms.newer.size();
  if (short_of_hosts(arms.base.size(), arms.left_out_base) ||
      short_of_hosts(arms.newer.size(), arms.left_out_newer)) {
    Settle(VerdictKind::kNotComparable,
           absl::StrFormat("%d of %d hosts on %s and %d of %d on %s count this "
                           "operation and its waits in the same way",
                           arms.base.size(), AllHosts(base), v->kernel_base,
                           arms.newer.size(), AllHosts(newer), v->kernel_new),
           v);
    return false;
  }
  const Rates base_rates =
      WithEnoughOperations(arms.base, rules.min_operations);
  const Rates new_rates =
      WithEnoughOperations(arms.newer, rules.min_operations);
  v->hosts_base = base_rates.size();
  v->hosts_new = new_rates.size();
  v->smallest_p = SmallestRankTestP(base_rates.size(), new_rates.size());
  if (base_rates.size() < rules.min_hosts ||
      new_rates.size() < rules.min_hosts) {
    Settle(
        VerdictKind::kInconclusive,
        absl::StrFormat("%d hosts on %s and %d on %s have at least %d "
                        "operations, and %d of each are needed",
                        base_rates.size(), v->kernel_base, new_rates.size(),
                        v->kernel_new, rules.min_operations, rules.min_hosts),
        v);
    return false;
  }
  const Rates& more =
      Events(base_rates) > Events(new_rates) ? base_rates : new_rates;
  if (Events(more) < rules.min_events ||
      EventHosts(more) < rules.min_event_hosts) {
    Settle(VerdictKind::kInconclusive,
           absl::StrFormat("the build that has more waits over 10 ms has %d, "
                           "from %d hosts, and %d from %d are needed",
                           Events(more), EventHosts(more), rules.min_events,
                           rules.min_event_hosts),
           v);
    return false;
  }
  double operations = 0;
  for (const Rates* rates : {&base_rates, &new_rates}) {
    for (const HostRate& r : *rates) {
      operations += static_cast<double>(r.operations);
    }
  }
  const double mean =
      operations / static_cast<double>(base_rates.size() + new_rates.size());
  const std::vector<double> a = LogRates(base_rates, mean);
  const std::vector<double> b = LogRates(new_rates, mean);
  const RankTest test = TestRanks(a, b, SeedOf(*v));
  v->p_value = test.p_value;
  v->p_exact = test.exact;
  const Shift shift = HodgesLehmann(a, b, rules.tail);
  v->ratio = std::exp(shift.estimate);
  v->ratio_lower = std::exp(shift.lower);
  v->ratio_upper = std::exp(shift.upper);
  return true;
}

void Conclude(double adjusted_p, const VerdictRules& rules, Verdict* v) {
  const bool differs = adjusted_p <= rules.alpha;
  if (differs && v->ratio_lower > rules.margin) {
    Settle(VerdictKind::kRegression, "", v);
  } else if (differs && v->ratio_upper < 1 / rules.margin) {
    Settle(VerdictKind::kImprovement, "", v);
  } else if (v->ratio_lower > 1 / rules.margin &&
             v->ratio_upper < rules.margin) {
    Settle(VerdictKind::kNoMaterialChange, "", v);
  } else if (differs) {
    Settle(VerdictKind::kInconclusive,
           absl::StrFormat("the rates differ, but the ratio may be within "
                           "%.0f %% (%s)",
                           100 * (rules.margin - 1), Evidenced(*v, rules)),
           v);
  } else {
    Settle(VerdictKind::kInconclusive,
           absl::StrFormat("the rates of hosts overlap (%s)",
                           Evidenced(*v, rules)),
           v);
  }
}

}  // namespace

std::vector<Verdict> Judge(const std::vector<HostCell>& cells,
                           const VerdictRules& rules) {
  const auto evidence = GatherEvidence(cells);
  std::vector<std::string> kernels;
  kernels.reserve(evidence.size());
  for (const auto& [kernel, operations] : evidence) kernels.push_back(kernel);

  std::vector<Verdict> verdicts;
  for (const KernelPair& pair : AdjacentPairs(kernels)) {
    const auto& base = evidence.at(pair.base);
    const auto& newer = evidence.at(pair.newer);
    std::set<OperationKey> operations;
    for (const auto* side : {&base, &newer}) {
      for (const auto& [operation, e] : *side) operations.insert(operation);
    }
    std::vector<Verdict> family;
    std::vector<size_t> tested;
    std::vector<double> p_values;
    const Evidence none;
    for (const OperationKey& operation : operations) {
      Verdict v;
      v.kernel_base = pair.base;
      v.kernel_new = pair.newer;
      v.subsystem = operation.first;
      v.operation = operation.second;
      const auto in_base = base.find(operation);
      const auto in_new = newer.find(operation);
      if (Examine(in_base == base.end() ? none : in_base->second,
                  in_new == newer.end() ? none : in_new->second, rules, &v)) {
        tested.push_back(family.size());
        p_values.push_back(v.p_value);
      }
      family.push_back(std::move(v));
    }
    const std::vector<double> adjusted = BenjaminiHochberg(p_values);
    for (size_t i = 0; i < tested.size(); ++i) {
      Conclude(adjusted[i], rules, &family[tested[i]]);
    }
    for (Verdict& v : family) {
      WriteSentence(rules, &v);
      verdicts.push_back(std::move(v));
    }
  }
  return verdicts;
}

}  // namespace swaplock
