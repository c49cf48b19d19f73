#include "server/verdict/judge_rollout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/verdict/alike_exposures.h"
#include "server/verdict/comparison.h"
#include "server/verdict/evidence_beside.h"
#include "server/verdict/false_discovery.h"
#include "server/verdict/sample_size.h"
#include "server/verdict/seeded_random.h"
#include "server/verdict/sign_e_process.h"
#include "server/verdict/signed_rank.h"
#include "server/verdict/strata.h"
#include "server/verdict/verdict_sentence.h"

namespace swaplock {
namespace {

constexpr VerdictOutcome kPrimary[] = {VerdictOutcome::kWaitsOver10ms,
                                       VerdictOutcome::kRunnable,
                                       VerdictOutcome::kContended};
constexpr VerdictOutcome kSecondary[] = {
    VerdictOutcome::kWaitsOver1ms, VerdictOutcome::kWaitsOver100ms,
    VerdictOutcome::kWaitsOver10msPerHour, VerdictOutcome::kSlowOperations};

struct Look {
  int64_t day = 0;
  uint64_t pairs = 0;  // so far
  double log_e_worse = 0;
  double log_e_better = 0;
};

// A comparison on its way to a verdict.
struct Case {
  VerdictRecord record;
  Comparison comparison;
  std::vector<Stratum> strata;  // indices into comparison.hosts
  std::vector<double> values;   // of comparison.hosts
  Strata samples;
  bool testable = false;  // belongs to the family
  bool tested = false;    // has p-values
  std::vector<MatchedPair> pairs;
  std::vector<Look> looks;
};

void Settle(VerdictKind kind, std::string reason, VerdictRecord* record) {
  record->kind = kind;
  record->reason = std::move(reason);
}

uint64_t SeedOf(const VerdictRecord& r) {
  uint64_t hash = HashOf(r.kernel_base);
  hash = HashOf(r.kernel_new, hash);
  hash = HashOf(Name(r.subsystem), hash);
  hash = HashOf(Name(r.operation), hash);
  return HashOf(Name(r.outcome), hash);
}

// Keys of a host in the order of their weight.
std::vector<std::string> KeysOf(const HostChange& host) {
  std::vector<std::string> keys;
  for (const char* const name : kStrataKeys) {
    const auto it = host.keys.find(name);
    keys.push_back(it == host.keys.end() ? "" : it->second);
  }
  return keys;
}

double LogRateBefore(const ComparedHost& host) {
  return LogRate(host.before, std::max(1.0, host.before.exposure));
}

// By host, the share of its after-window that is compared.
std::vector<double> SharesOf(const Case& c) {
  std::vector<double> shares(c.comparison.hosts.size(), 1);
  const auto changes = [&](const std::vector<size_t>& side) {
    std::vector<double> out;
    for (const size_t i : side) {
      const ComparedHost& host = c.comparison.hosts[i];
      out.push_back(
          std::log(host.after.exposure) -
          (host.before_counts == nullptr ? 0 : std::log(host.before.exposure)));
    }
    return out;
  };
  for (const Stratum& stratum : c.strata) {
    const KeptShares kept =
        MakeExposuresAlike(changes(stratum.treated), changes(stratum.controls));
    for (size_t i = 0; i < kept.treated.size(); ++i) {
      shares[stratum.treated[i]] = kept.treated[i];
    }
    for (size_t i = 0; i < kept.controls.size(); ++i) {
      shares[stratum.controls[i]] = kept.controls[i];
    }
  }
  return shares;
}

// After FillStrata, where there are strata.
void FillValues(Case* c) {
  const std::vector<double> shares = SharesOf(*c);
  std::vector<EventsPer> windows;
  double exposure = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const ComparedHost& host = c->comparison.hosts[i];
    SeededRandom random(HashOf(host.host->host_id, c->record.seed));
    windows.push_back(host.after);
    Thin(&random, shares[i], &windows.back());
    exposure += windows.back().exposure;
  }
  const double mean = exposure / static_cast<double>(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    const ComparedHost& host = c->comparison.hosts[i];
    c->values.push_back(host.before_counts == nullptr
                            ? LogRate(windows[i], mean)
                            : ChangeOfLogRate(host.before, windows[i]));
  }
  for (const Stratum& stratum : c->strata) {
    StratumValues sample;
    for (const size_t i : stratum.treated) {
      sample.treated.push_back(c->values[i]);
    }
    for (const size_t i : stratum.controls) {
      sample.controls.push_back(c->values[i]);
    }
    c->samples.push_back(std::move(sample));
  }
}

// Where hosts have few events before, a rate is low or high by chance and comes
// back to the middle by itself, so that hosts are only compared with those of a
// similar rate. Elsewhere that would but cost power.
bool RatesAreChance(const Comparison& comparison, const RolloutRules& rules) {
  std::vector<double> pieces;
  for (const ComparedHost& host : comparison.hosts) {
    pieces.push_back(host.before.events / host.before.piece);
  }
  const auto middle =
      pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() / 2);
  std::nth_element(pieces.begin(), middle, pieces.end());
  return *middle < rules.sure_events;
}

void FillStrata(const RolloutRules& rules, Case* c) {
  std::vector<StratifiedHost> hosts;
  std::vector<double> rates;
  for (const ComparedHost& host : c->comparison.hosts) {
    hosts.push_back({host.treated(), host.host->wave, KeysOf(*host.host)});
    if (host.before_counts != nullptr) rates.push_back(LogRateBefore(host));
  }
  if (rates.size() == hosts.size() && RatesAreChance(c->comparison, rules)) {
    const std::vector<std::string> terciles = Terciles(rates);
    for (size_t i = 0; i < hosts.size(); ++i) {
      hosts[i].keys.push_back(terciles[i]);
    }
  }
  StrataLimits limits;
  limits.per_arm = rules.stratum_hosts;
  limits.firm_keys = kFirmKeys;
  limits.firm_per_arm = rules.firm_stratum_hosts;
  size_t alone = 0;
  c->strata = MakeStrata(hosts, limits, &alone);
  if (alone > 0) {
    c->record.findings.push_back(absl::StrFormat(
        "%d hosts have none of the other arm in their wave and are left out.",
        alone));
  }
}

// Events and the hosts they come from, of the arm that has more.
bool EnoughEvents(const Case& c, const RolloutRules& rules,
                  std::string* reason) {
  double events[2] = {};
  uint64_t hosts[2] = {};
  for (const ComparedHost& host : c.comparison.hosts) {
    double own = host.before.events + host.after.events;
    if (c.record.outcome == VerdictOutcome::kWaitsOver10ms) {
      own = 0;
      for (const OperationCounts* counts :
           {host.before_counts, host.after_counts}) {
        if (counts == nullptr) continue;
        own += static_cast<double>(counts->episodes_over_10ms > 0
                                       ? counts->episodes_over_10ms
                                       : counts->waits_over_10ms);
      }
    }
    events[host.treated()] += own;
    hosts[host.treated()] += own > 0;
  }
  const int more = events[1] > events[0] ? 1 : 0;
  if (events[more] >= rules.min_events &&
      hosts[more] >= rules.min_event_hosts) {
    return true;
  }
  *reason = absl::StrFormat(
      "the hosts that have more of it counted %.0f%s, on %d hosts, and %.0f on "
      "%d are needed",
      events[more], c.record.outcome == VerdictOutcome::kRunnable ? " ms" : "",
      hosts[more], rules.min_events, rules.min_event_hosts);
  return false;
}

void FillPlan(const RolloutRules& rules, Case* c) {
  VerdictRecord& r = c->record;
  const double spread = SpreadInsideStrata(c->samples);
  r.detectable_ratio =
      DetectableRatio(spread, r.treated.hosts, r.controls.hosts, rules.margin);
  r.hosts_needed = HostsPerArmFor(1.5, spread, rules.margin);
}

Effect EffectOf(const Shift& shift) {
  return {std::exp(shift.estimate), std::exp(shift.lower),
          std::exp(shift.upper)};
}

void TestFixedLook(const RolloutRules& rules, Case* c) {
  VerdictRecord& r = c->record;
  const double margin = std::log(rules.margin);
  if (r.design == Design::kBeforeAfter) {
    std::vector<double> values;
    for (size_t i = 0; i < c->values.size(); ++i) {
      if (c->comparison.hosts[i].treated()) values.push_back(c->values[i]);
    }
    r.p_worse = SignedRankP(values, margin, Direction::kHigher);
    r.p_better = SignedRankP(values, -margin, Direction::kLower);
    r.effect = EffectOf(PseudoMedian(values, rules.tail));
    c->tested = true;
    return;
  }
  if (c->samples.empty()) return;
  const StratifiedTest worse =
      TestStratified(c->samples, margin, Direction::kHigher, r.seed);
  const StratifiedTest better =
      TestStratified(c->samples, -margin, Direction::kLower, r.seed);
  r.p_worse = worse.p_value;
  r.p_better = better.p_value;
  r.p_exact = worse.exact && better.exact;
  r.smallest_p = SmallestStratifiedP(c->samples);
  r.effect = EffectOf(StratifiedShift(c->samples, rules.tail));
  c->tested = true;
}

void FillSequential(const RolloutRules& rules, Case* c) {
  VerdictRecord& r = c->record;
  if (r.design != Design::kBeforeAfterWithControls) return;
  std::vector<HostBefore> before;
  for (const ComparedHost& host : c->comparison.hosts) {
    before.push_back({LogRateBefore(host), std::log(host.before.exposure),
                      host.host->boot_day, HashOf(host.host->host_id, r.seed)});
  }
  c->pairs = MatchPairs(c->strata, before);
  const auto closes = [&](const MatchedPair& pair) {
    const auto end = [&](size_t i) {
      const HostWindow& after = *c->comparison.hosts[i].host->after;
      return after.first_day + after.days;
    };
    return std::max(end(pair.treated), end(pair.control));
  };
  std::stable_sort(c->pairs.begin(), c->pairs.end(),
                   [&](const MatchedPair& a, const MatchedPair& b) {
                     return closes(a) < closes(b);
                   });
  const double margin = std::log(rules.margin);
  SignEProcess worse;
  SignEProcess better;
  uint64_t pairs = 0;
  for (const MatchedPair& pair : c->pairs) {
    const double difference = c->values[pair.treated] - c->values[pair.control];
    worse.Add(difference - margin);
    better.Add(-difference - margin);
    const int64_t day = closes(pair);
    if (c->looks.empty() || c->looks.back().day != day) {
      c->looks.push_back({});
      c->looks.back().day = day;
    }
    ++pairs;
    c->looks.back().pairs = pairs;
    c->looks.back().log_e_worse = worse.log_e();
    c->looks.back().log_e_better = better.log_e();
  }
  r.sequential.pairs = c->pairs.size();
  r.sequential.worse = worse.up();
  r.sequential.better = better.up();
  r.sequential.log_e_worse = worse.log_e();
  r.sequential.log_e_better = better.log_e();
  r.sequential.p_worse = worse.p_value();
  r.sequential.p_better = better.p_value();
}

void FillStrataTable(const RolloutRules& rules, Case* c) {
  VerdictRecord& r = c->record;
  double weights = 0;
  double weighted = 0;
  std::vector<std::pair<double, double>> effects;  // log ratio, weight
  for (size_t i = 0; i < c->strata.size(); ++i) {
    const Shift shift = StratifiedShift({c->samples[i]}, rules.tail);
    r.strata.push_back({c->strata[i].name, c->strata[i].treated.size(),
                        c->strata[i].controls.size(), EffectOf(shift)});
    const double width = shift.upper - shift.lower;
    if (!std::isfinite(width) || width <= 0) continue;
    const double error = width / (2 * 1.6449);
    effects.emplace_back(shift.estimate, 1 / (error * error));
    weights += effects.back().second;
    weighted += effects.back().first * effects.back().second;
  }
  if (effects.size() < 2) return;
  double q = 0;
  for (const auto& [effect, weight] : effects) {
    q += weight * (effect - weighted / weights) * (effect - weighted / weights);
  }
  r.heterogeneity_q = q;
  r.heterogeneity_i2 =
      q > 0 ? std::max(0.0, (q - static_cast<double>(effects.size() - 1)) / q)
            : 0;
}

Case Examine(const Rollout& rollout, const OperationKey& operation,
             VerdictOutcome outcome, const RolloutRules& rules) {
  Case c;
  VerdictRecord& r = c.record;
  r.kernel_base = rollout.kernel_base;
  r.kernel_new = rollout.kernel_new;
  r.subsystem = operation.first;
  r.operation = operation.second;
  r.outcome = outcome;
  r.seed = SeedOf(r);
  c.comparison = Compare(rollout, operation, outcome, rules);
  r.design = c.comparison.design;
  r.treated = c.comparison.treated;
  r.controls = c.comparison.controls;
  if (!c.comparison.not_comparable.empty()) {
    Settle(VerdictKind::kNotComparable, c.comparison.not_comparable, &r);
    return c;
  }
  const bool alone = r.design == Design::kBeforeAfter;
  if (r.treated.hosts < rules.min_hosts ||
      (!alone && r.controls.hosts < rules.min_hosts)) {
    Settle(VerdictKind::kInconclusive,
           absl::StrFormat("%d upgraded hosts and %d others have enough "
                           "operations in their windows, and %d of each are "
                           "needed%s",
                           r.treated.hosts, r.controls.hosts, rules.min_hosts,
                           rollout.hosts_waiting > 0
                               ? absl::StrFormat("; %d upgraded ones are still "
                                                 "being watched",
                                                 rollout.hosts_waiting)
                               : ""),
           &r);
    return c;
  }
  c.testable = true;
  r.gates = CheckGates(c.comparison, rules);
  if (!alone) FillStrata(rules, &c);
  FillValues(&c);
  FillPlan(rules, &c);
  for (const Gate& gate : r.gates) {
    if (gate.passed) continue;
    Settle(VerdictKind::kDataQuality, absl::StrCat(gate.name, ": ", gate.value),
           &r);
    return c;
  }
  std::string reason;
  if (!EnoughEvents(c, rules, &reason)) {
    Settle(VerdictKind::kInconclusive, reason, &r);
    return c;
  }
  TestFixedLook(rules, &c);
  if (!c.tested) {
    Settle(VerdictKind::kNotComparable,
           "no upgraded host has one of the other arm in its wave", &r);
    return c;
  }
  if (!alone) FillSequential(rules, &c);
  return c;
}

// Looks at the family after each day on which a pair closed; the first day that
// e-BH rejects a hypothesis is its alarm. Few pairs would do, but convince
// nobody: alarms wait for min_pairs_shown.
void RaiseAlarms(const RolloutRules& rules, uint64_t family,
                 std::vector<Case>* cases) {
  std::set<int64_t> days;
  for (const Case& c : *cases) {
    for (const Look& look : c.looks) days.insert(look.day);
  }
  std::vector<size_t> next(cases->size(), 0);
  std::vector<double> log_e(2 * cases->size(), 0);
  std::vector<uint64_t> pairs(cases->size(), 0);
  for (const int64_t day : days) {
    for (size_t i = 0; i < cases->size(); ++i) {
      const std::vector<Look>& looks = (*cases)[i].looks;
      for (; next[i] < looks.size() && looks[next[i]].day <= day; ++next[i]) {
        log_e[2 * i] = looks[next[i]].log_e_worse;
        log_e[2 * i + 1] = looks[next[i]].log_e_better;
        pairs[i] = looks[next[i]].pairs;
      }
    }
    const std::vector<bool> rejected =
        EBenjaminiHochberg(log_e, rules.q_sequential, family);
    for (size_t j = 0; j < rejected.size(); ++j) {
      SequentialEvidence& evidence = (*cases)[j / 2].record.sequential;
      if (!rejected[j] || evidence.alarm.has_value() ||
          pairs[j / 2] < rules.min_pairs_shown) {
        continue;
      }
      evidence.alarm = j % 2 == 0 ? Direction::kHigher : Direction::kLower;
      evidence.alarm_day = day;
    }
  }
}

// Whether strata differ in sign, with the evidence for both signs.
bool StrataDisagree(const Case& c, const RolloutRules& rules) {
  if (c.samples.size() < 2) return false;
  const double margin = std::log(rules.margin);
  std::vector<double> p_values;
  for (const StratumValues& sample : c.samples) {
    if (std::min(sample.treated.size(), sample.controls.size()) <
        rules.stratum_hosts) {
      continue;
    }
    p_values.push_back(NormalP({sample}, margin, Direction::kHigher));
    p_values.push_back(NormalP({sample}, -margin, Direction::kLower));
  }
  const std::vector<double> adjusted = BenjaminiHochberg(p_values);
  bool worse = false;
  bool better = false;
  for (size_t i = 0; i < adjusted.size(); ++i) {
    if (adjusted[i] <= rules.q_fixed) (i % 2 == 0 ? worse : better) = true;
  }
  return worse && better;
}

std::string WhatIsMissing(const VerdictRecord& r) {
  std::string out;
  if (std::isfinite(r.detectable_ratio)) {
    out = absl::StrFormat(
        "with %d upgraded hosts and %d others a ratio of %.2g would have been "
        "seen",
        r.treated.hosts, r.controls.hosts, r.detectable_ratio);
  }
  const uint64_t have = std::min(r.treated.hosts, r.controls.hosts);
  if (r.hosts_needed > have) {
    absl::StrAppend(&out, ", and for 1.5 it takes about ",
                    r.hosts_needed - have, " more of each");
  }
  return out;
}

void Conclude(const Rollout& rollout, const RolloutRules& rules, Case* c) {
  VerdictRecord& r = c->record;
  const bool worse_rejected = r.adjusted_p <= rules.q_fixed &&
                              r.p_worse <= r.p_better &&
                              r.effect.lower > rules.margin;
  const bool better_rejected = r.adjusted_p <= rules.q_fixed &&
                               r.p_better < r.p_worse &&
                               r.effect.upper < 1 / rules.margin;
  const bool fixed = rules.ended && (worse_rejected || better_rejected);
  const bool alarm = r.sequential.alarm.has_value();
  if (fixed || alarm) {
    const bool worse =
        fixed ? worse_rejected : *r.sequential.alarm == Direction::kHigher;
    const Direction direction = worse ? Direction::kHigher : Direction::kLower;
    Settle(worse ? VerdictKind::kRegression : VerdictKind::kImprovement, "",
           &r);
    FillStrataTable(rules, c);
    if (fixed && alarm && direction != *r.sequential.alarm) {
      Settle(VerdictKind::kMixed,
             "the alarm during the rollout and the final look disagree", &r);
      return;
    }
    if (StrataDisagree(*c, rules)) {
      Settle(VerdictKind::kMixed,
             "it is worse in some strata of hosts and "
             "better in others",
             &r);
      return;
    }
    if (r.design == Design::kBeforeAfter) {
      Settle(VerdictKind::kSuspect,
             "no host stayed on the old kernel, so that days and kernels "
             "cannot be told apart",
             &r);
      return;
    }
    if (r.design == Design::kParallelGroups &&
        !rules.parallel_groups_may_flag) {
      Settle(VerdictKind::kSuspect,
             "different hosts are compared, of which none ran both kernels",
             &r);
      return;
    }
    if (!alarm) {
      const double margin = std::log(rules.margin);
      r.p_without_one_host = LargestPWithoutOneHost(
          c->samples, worse ? margin : -margin, direction);
      const double p = worse ? r.p_worse : r.p_better;
      if (r.p_without_one_host * r.adjusted_p / p > rules.q_fixed) {
        Settle(VerdictKind::kSuspect, "it rests on a single host", &r);
      }
    }
    return;
  }
  if (!rules.ended) {
    Settle(VerdictKind::kInconclusive,
           absl::StrFormat("the rollout goes on, and %d pairs of hosts do not "
                           "decide it yet%s",
                           r.sequential.pairs,
                           rollout.hosts_waiting > 0
                               ? absl::StrFormat("; %d more upgraded hosts are "
                                                 "being watched",
                                                 rollout.hosts_waiting)
                               : ""),
           &r);
    return;
  }
  if (r.effect.lower > 1 / rules.margin && r.effect.upper < rules.margin) {
    Settle(VerdictKind::kNoMaterialChange, "", &r);
    return;
  }
  std::string reason = "the difference may be none or may be material";
  if (r.effect.lower > rules.margin || r.effect.upper < 1 / rules.margin) {
    reason = "the difference is not certain enough among all that were tested";
  }
  const std::string missing = WhatIsMissing(r);
  absl::StrAppend(&reason, " (", EffectInWords(r), ")");
  if (!missing.empty()) absl::StrAppend(&reason, "; ", missing);
  Settle(VerdictKind::kInconclusive, reason, &r);
}

bool Flags(VerdictKind kind) {
  return kind == VerdictKind::kRegression || kind == VerdictKind::kImprovement;
}

// What else changed for the worse when this improved: the operation as a whole,
// or another operation of the subsystem.
void LookForShiftedCost(const RolloutRules& rules,
                        const std::vector<Case>& cases, Case* c) {
  VerdictRecord& r = c->record;
  if (r.kind != VerdictKind::kImprovement) return;
  std::vector<std::pair<double, std::string>> neighbours;
  const auto add = [&](double p, const Effect& effect, std::string name) {
    if (!std::isfinite(p)) return;
    neighbours.emplace_back(effect.lower > rules.margin ? p : 1,
                            std::move(name));
  };
  for (const Case& other : cases) {
    const VerdictRecord& o = other.record;
    if (o.outcome != VerdictOutcome::kWaitsOver10ms ||
        o.subsystem != r.subsystem) {
      continue;
    }
    if (o.operation != r.operation) {
      add(o.p_worse, o.effect,
          absl::StrCat(Phrase(o.outcome), " of ", Name(o.operation)));
      continue;
    }
    for (const SecondaryResult& s : o.secondary) {
      if (s.outcome != VerdictOutcome::kSlowOperations) continue;
      add(s.p_worse, s.effect, std::string(Phrase(s.outcome)));
    }
  }
  for (const auto& [p, name] : neighbours) {
    if (p * static_cast<double>(neighbours.size()) > rules.q_fixed) continue;
    Settle(VerdictKind::kMixed,
           absl::StrCat("the cost moved: there are more ", name), &r);
    return;
  }
}

// A secondary outcome alone makes a suspicion.
void LookAtSecondary(const RolloutRules& rules, size_t tests, Case* c) {
  VerdictRecord& r = c->record;
  if (!c->tested || !rules.ended ||
      (r.kind != VerdictKind::kInconclusive &&
       r.kind != VerdictKind::kNoMaterialChange)) {
    return;
  }
  for (const SecondaryResult& s : r.secondary) {
    const bool worse =
        s.p_worse * static_cast<double>(tests) <= rules.q_fixed &&
        s.effect.lower > rules.margin;
    const bool better =
        s.p_better * static_cast<double>(tests) <= rules.q_fixed &&
        s.effect.upper < 1 / rules.margin;
    if (!worse && !better) continue;
    Settle(VerdictKind::kSuspect,
           absl::StrFormat("only %s differ, %.3g times as many",
                           Phrase(s.outcome), s.effect.ratio),
           &r);
    return;
  }
}

std::vector<SecondaryResult> ExamineSecondary(const Rollout& rollout,
                                              const OperationKey& operation,
                                              const RolloutRules& rules) {
  std::vector<SecondaryResult> out;
  for (const VerdictOutcome outcome : kSecondary) {
    Case c;
    c.record.outcome = outcome;
    c.comparison = Compare(rollout, operation, outcome, rules);
    if (c.comparison.design == Design::kBeforeAfter ||
        !c.comparison.not_comparable.empty() ||
        std::min(c.comparison.treated.hosts, c.comparison.controls.hosts) <
            rules.min_hosts) {
      continue;
    }
    std::string reason;
    if (!EnoughEvents(c, rules, &reason)) continue;
    FillStrata(rules, &c);
    FillValues(&c);
    if (c.samples.empty()) continue;
    const double margin = std::log(rules.margin);
    SecondaryResult result;
    result.outcome = outcome;
    result.p_worse = NormalP(c.samples, margin, Direction::kHigher);
    result.p_better = NormalP(c.samples, -margin, Direction::kLower);
    result.effect = EffectOf(StratifiedShift(c.samples, rules.tail));
    out.push_back(result);
  }
  return out;
}

void AdjustFamily(uint64_t family, std::vector<Case>* cases) {
  std::vector<double> p_values;
  for (const Case& c : *cases) {
    if (!c.tested) continue;
    p_values.push_back(c.record.p_worse);
    p_values.push_back(c.record.p_better);
  }
  const std::vector<double> adjusted = BenjaminiHochberg(p_values, family);
  size_t next = 0;
  for (Case& c : *cases) {
    c.record.family = family;
    if (!c.tested) continue;
    c.record.adjusted_p = std::min(adjusted[next], adjusted[next + 1]);
    next += 2;
  }
}

}  // namespace

RolloutVerdicts JudgeRollout(const Rollout& rollout,
                             const RolloutRules& rules) {
  std::set<OperationKey> operations;
  for (const HostChange& host : rollout.hosts) {
    for (const auto* window : {&host.before, &host.after}) {
      if (!window->has_value()) continue;
      for (const auto& [key, counts] : (*window)->operations) {
        operations.insert(key);
      }
    }
  }
  std::vector<Case> cases;
  uint64_t family = 0;
  for (const OperationKey& operation : operations) {
    for (const VerdictOutcome outcome : kPrimary) {
      cases.push_back(Examine(rollout, operation, outcome, rules));
      family += cases.back().testable ? 2 : 0;
      if (outcome == VerdictOutcome::kWaitsOver10ms) {
        cases.back().record.secondary =
            ExamineSecondary(rollout, operation, rules);
      }
    }
  }
  AdjustFamily(family, &cases);
  RaiseAlarms(rules, family, &cases);
  size_t secondary = 0;
  for (Case& c : cases) {
    if (c.tested) Conclude(rollout, rules, &c);
    secondary += 2 * c.record.secondary.size();
  }
  RolloutVerdicts out;
  const Case* widest = nullptr;
  for (Case& c : cases) {
    LookForShiftedCost(rules, cases, &c);
    LookAtSecondary(rules, secondary, &c);
    DescribeBeside(rollout, c.comparison, rules, &c.record);
    c.record.sentence = SentenceOf(c.record);
    const auto hosts = [](const Case& x) {
      return x.record.treated.hosts + x.record.controls.hosts;
    };
    if (!c.strata.empty() && c.tested &&
        c.record.design == Design::kBeforeAfterWithControls &&
        (widest == nullptr || hosts(c) > hosts(*widest))) {
      widest = &c;
    }
  }
  if (widest != nullptr && !rules.ended) {
    out.holdback = AdviseHoldback(widest->strata, widest->pairs);
  }
  for (Case& c : cases) out.verdicts.push_back(std::move(c.record));
  return out;
}

void Confirm(const std::vector<VerdictRecord>& yesterday,
             std::vector<VerdictRecord>* today) {
  const auto same = [](const VerdictRecord& a, const VerdictRecord& b) {
    return a.kernel_base == b.kernel_base && a.kernel_new == b.kernel_new &&
           a.subsystem == b.subsystem && a.operation == b.operation &&
           a.outcome == b.outcome && a.kind == b.kind;
  };
  for (VerdictRecord& record : *today) {
    if (!Flags(record.kind) || record.sequential.alarm.has_value() ||
        std::any_of(yesterday.begin(), yesterday.end(),
                    [&](const VerdictRecord& y) { return same(y, record); })) {
      continue;
    }
    Settle(VerdictKind::kInconclusive,
           absl::StrCat("today's evaluation is the first to say ",
                        Name(record.kind), ", and two in a row are needed (",
                        EffectInWords(record), ")"),
           &record);
    record.sentence = SentenceOf(record);
  }
}

}  // namespace swaplock
