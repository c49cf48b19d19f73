#include "server/verdict/verdict_evidence.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text_table.h"
#include "server/verdict/verdict_sentence.h"
#include "server/verdict/verdict_words.h"

namespace swaplock {
namespace {

constexpr char kNone[] = "-";

using Row = std::vector<std::string>;

// "a, b and c", of more the first, the last and how many.
std::string BuildsText(const std::vector<std::string>& builds) {
  if (builds.size() <= 3) return absl::StrJoin(builds, ", ");
  return absl::StrCat(builds.front(), " ... ", builds.back(), " (",
                      builds.size(), " builds)");
}

std::string ChangeText(const std::string& before, const std::string& after) {
  if (before == after) return before;
  return absl::StrCat(before.empty() ? "not known" : before, " -> ",
                      after.empty() ? "not known" : after);
}

void AddFact(const char* name, std::string value, EvidenceTable* table) {
  if (!value.empty()) table->rows.push_back({name, std::move(value)});
}

EvidenceTable FactsOf(const VerdictRecord& r) {
  EvidenceTable table = {"What is compared", {{"what"}, {"value"}}, {}, {}};
  AddFact("kernels", KernelsText(r.kernel_base, r.kernel_new), &table);
  AddFact("builds before", BuildsText(r.builds_before), &table);
  AddFact("builds after", BuildsText(r.builds_after), &table);
  AddFact("changed with it", absl::StrJoin(r.co_changes, ", "), &table);
  AddFact("operation", OperationText(r), &table);
  AddFact("lock", ChangeText(r.lock_model_base, r.lock_model_new), &table);
  AddFact("outcome", std::string(Phrase(r.outcome)), &table);
  AddFact("design", std::string(DesignText(r.design)), &table);
  if (r.change.has_value()) {
    AddFact("changed about", ChangeInWords(*r.change), &table);
  }
  return table;
}

EvidenceTable LifeOf(const StoredVerdict& v) {
  EvidenceTable table = FactsOf(v.record);
  AddFact("days",
          absl::StrCat(DayText(v.first_day), " to ", DayText(v.last_day)),
          &table);
  AddFact(
      "judged",
      absl::StrCat("first ", DayText(v.first_judged), ", ", Name(v.record.kind),
                   " since ", DayText(v.since), ", last ", DayText(v.judged)),
      &table);
  AddFact("version",
          absl::StrCat(v.version, " of verdict ", v.id, ", by engine ",
                       v.engine, ", seed ", v.record.seed),
          &table);
  AddFact("alert", AlertText(v), &table);
  AddFact("said of it", MarkText(v.mark), &table);
  AddFact("went away", v.went_away, &table);
  return table;
}

EvidenceTable EffectsOf(const VerdictRecord& r) {
  EvidenceTable table = {"Effect, new over base",
                         {{"of"}, {"ratio (90 % interval)", true}},
                         {},
                         {}};
  if (!std::isnan(r.effect.ratio)) {
    table.rows.push_back(
        {"the typical host, which decides", EffectText(r.effect)});
  }
  if (!std::isnan(r.fleet.ratio)) {
    table.rows.push_back({"all operations together", EffectText(r.fleet)});
  }
  if (std::isfinite(r.detectable_ratio)) {
    table.notes.push_back(absl::StrFormat(
        "With these hosts a true ratio of %.3g is found 4 times in 5.",
        r.detectable_ratio));
  }
  const uint64_t have = std::min(r.treated.hosts, r.controls.hosts);
  if (r.hosts_needed > have) {
    table.notes.push_back(absl::StrFormat(
        "For a ratio of 1.5 it takes %d hosts in each arm: %d more.",
        r.hosts_needed, r.hosts_needed - have));
  } else if (r.hosts_needed > 0) {
    table.notes.push_back(absl::StrFormat(
        "For a ratio of 1.5 it takes %d hosts in each arm.", r.hosts_needed));
  }
  return table;
}

// e is large where there is much evidence: as text, for it may be enormous.
std::string EText(double log_e) {
  if (std::isnan(log_e)) return kNone;
  if (std::abs(log_e) < 20) return absl::StrFormat("%.3g", std::exp(log_e));
  return absl::StrFormat("1e%.0f", log_e / std::log(10.0));
}

EvidenceTable TestsOf(const VerdictRecord& r) {
  EvidenceTable table = {
      "Tests", {{"test"}, {"worse", true}, {"better", true}}, {}, {}};
  if (!std::isnan(r.p_worse)) {
    const char* const test = r.design == Design::kChangePoint
                                 ? "change of level: p"
                                 : "fixed look: p";
    table.rows.push_back(
        {test, PText(r.p_worse, r.p_exact), PText(r.p_better, r.p_exact)});
    table.notes.push_back(absl::StrFormat(
        "Over the family of %d hypotheses p is %s; %s; the smallest that these "
        "numbers of hosts can give is %s.",
        r.family, PText(r.adjusted_p),
        r.p_exact ? "every labelling was counted" : "labellings were sampled",
        PText(r.smallest_p)));
  }
  if (!std::isnan(r.p_without_one_host)) {
    table.notes.push_back(
        absl::StrFormat("Leaving out any one host, p is at most %s.",
                        PText(r.p_without_one_host)));
  }
  const SequentialEvidence& s = r.sequential;
  if (s.pairs > 0) {
    table.rows.push_back({absl::StrFormat("of %d pairs", s.pairs),
                          absl::StrCat(s.worse), absl::StrCat(s.better)});
    table.rows.push_back(
        {"while it runs: e now", EText(s.log_e_worse), EText(s.log_e_better)});
    table.rows.push_back(
        {"while it runs: p", PText(s.p_worse), PText(s.p_better)});
  }
  if (s.alarm.has_value()) {
    table.notes.push_back(
        absl::StrCat("Alarm while it runs, for ",
                     *s.alarm == Direction::kHigher ? "worse" : "better",
                     ", on ", DayText(s.alarm_day), "."));
  }
  return table;
}

// What an outcome counts.
std::string UnitOf(VerdictOutcome outcome) {
  switch (outcome) {
    case VerdictOutcome::kRunnable:
      return "ms runnable in holds";
    case VerdictOutcome::kContended:
      return "contended acquisitions";
    case VerdictOutcome::kSlowOperations:
      return "operations over 10 ms";
    default:
      return "waits";
  }
}

std::string PerMillion(double events, double operations) {
  if (!(operations > 0)) return kNone;
  const double rate = events / operations * 1e6;
  return rate < 1000 ? absl::StrFormat("%.3g", rate) : CountText(rate);
}

EvidenceTable ArmsOf(const VerdictRecord& r) {
  EvidenceTable table = {"Hosts and what they counted",
                         {{"what"}, {"upgraded", true}, {"not upgraded", true}},
                         {},
                         {}};
  if (r.design == Design::kParallelGroups) {
    table.columns[1].title = "new kernel";
    table.columns[2].title = "base kernel";
  }
  if (r.design == Design::kChangePoint) table.columns[1].title = "hosts";
  const ArmTotals& a = r.treated;
  const ArmTotals& b = r.controls;
  const auto add = [&](const std::string& name, const std::string& treated,
                       const std::string& controls) {
    table.rows.push_back({name, treated, controls});
  };
  const auto totals = [&](const char* when, double ArmTotals::*hours,
                          double ArmTotals::*operations,
                          double ArmTotals::*events,
                          double ArmTotals::*episodes) {
    if (!(a.*hours > 0) && !(b.*hours > 0)) return;
    // Of nobody nothing was counted.
    const auto text = [&](const ArmTotals& arm, double value) {
      return arm.*hours > 0 ? CountText(value) : kNone;
    };
    add(absl::StrCat("hours ", when), text(a, a.*hours), text(b, b.*hours));
    add(absl::StrCat("operations ", when), text(a, a.*operations),
        text(b, b.*operations));
    add(absl::StrCat(UnitOf(r.outcome), " ", when), text(a, a.*events),
        text(b, b.*events));
    if (a.*episodes > 0 || b.*episodes > 0) {
      add(absl::StrCat("episodes of them ", when, ", at least"),
          text(a, a.*episodes), text(b, b.*episodes));
    }
    add(absl::StrCat("per million operations ", when),
        PerMillion(a.*events, a.*operations),
        PerMillion(b.*events, b.*operations));
  };
  add("hosts compared", absl::StrCat(a.hosts), absl::StrCat(b.hosts));
  totals("before", &ArmTotals::hours_before, &ArmTotals::operations_before,
         &ArmTotals::events_before, &ArmTotals::episodes_before);
  totals("after", &ArmTotals::hours_after, &ArmTotals::operations_after,
         &ArmTotals::events_after, &ArmTotals::episodes_after);
  const struct {
    const char* name;
    uint64_t ArmTotals::*hosts;
  } kLeftOut[] = {
      {"left out: measured otherwise", &ArmTotals::left_out_measured_otherwise},
      {"left out: few operations", &ArmTotals::left_out_few_operations},
      {"left out: another workload", &ArmTotals::left_out_other_workload},
      {"left out: not rebooted", &ArmTotals::left_out_not_rebooted},
      {"fell silent", &ArmTotals::vanished}};
  for (const auto& [name, hosts] : kLeftOut) {
    if (a.*hosts == 0 && b.*hosts == 0) continue;
    add(name, absl::StrCat(a.*hosts), absl::StrCat(b.*hosts));
  }
  if (!std::isnan(r.runnable_share_after)) {
    add("holds runnable off-CPU before", PercentText(r.runnable_share_before),
        kNone);
    add("holds runnable off-CPU after", PercentText(r.runnable_share_after),
        kNone);
  }
  return table;
}

EvidenceTable GatesOf(const VerdictRecord& r) {
  EvidenceTable table = {"Gates", {{"gate"}, {"passed"}, {"why"}}, {}, {}};
  for (const Gate& gate : r.gates) {
    table.rows.push_back({gate.name, gate.passed ? "yes" : "no", gate.value});
  }
  return table;
}

EvidenceTable StrataTable(const VerdictRecord& r) {
  EvidenceTable table = {"Strata",
                         {{"hosts that are alike"},
                          {"upgraded", true},
                          {"not upgraded", true},
                          {"ratio (90 % interval)", true}},
                         {},
                         {}};
  for (const StratumResult& s : r.strata) {
    table.rows.push_back({s.name.empty() ? "all" : s.name,
                          absl::StrCat(s.treated), absl::StrCat(s.controls),
                          EffectText(s.effect)});
  }
  if (!std::isnan(r.heterogeneity_q) && r.strata.size() > 1) {
    table.notes.push_back(
        absl::StrFormat("Between strata: Cochran's Q %.3g, of the variation "
                        "%s beyond chance.",
                        r.heterogeneity_q, PercentText(r.heterogeneity_i2)));
  }
  return table;
}

EvidenceTable TopHostsOf(const VerdictRecord& r) {
  EvidenceTable table = {"Hosts with most",
                         {{"host"},
                          {"arm"},
                          {"after", true},
                          {"of its arm", true},
                          {"after over before", true}},
                         {},
                         {}};
  table.columns[2].title = absl::StrCat(UnitOf(r.outcome), " after");
  for (const TopHost& host : r.top_hosts) {
    table.rows.push_back(
        {host.host_id, host.arm == Arm::kTreated ? "upgraded" : "not upgraded",
         CountText(host.events_after), PercentText(host.share),
         absl::StrFormat("%.3g", host.ratio)});
  }
  return table;
}

EvidenceTable SecondaryOf(const VerdictRecord& r) {
  EvidenceTable table = {"Beside it, never flagged alone",
                         {{"outcome"},
                          {"ratio (90 % interval)", true},
                          {"p worse", true},
                          {"p better", true}},
                         {},
                         {}};
  for (const SecondaryResult& s : r.secondary) {
    table.rows.push_back({std::string(Phrase(s.outcome)), EffectText(s.effect),
                          PText(s.p_worse), PText(s.p_better)});
  }
  return table;
}

std::string QuantileText(const QuantileRatio& q) {
  if (!q.missing.empty()) return absl::StrCat("- (", q.missing, ")");
  return EffectText({q.ratio, q.interval.lower, q.interval.upper});
}

EvidenceTable QuantilesOf(const VerdictRecord& r) {
  EvidenceTable table = {"Quantiles of waits, after over before",
                         {{"quantile"}, {"upgraded"}, {"not upgraded"}},
                         {},
                         {}};
  for (const QuantileChange& q : r.quantiles) {
    table.rows.push_back({absl::StrFormat("p%.10g", 100 * q.quantile),
                          QuantileText(q.treated), QuantileText(q.controls)});
  }
  return table;
}

std::string LevelText(const ReturnLevel& level) {
  if (level.share_bound > 0) {
    return absl::StrFormat("none over 10 ms: under %.2g %% of host-days",
                           100 * level.share_bound);
  }
  if (!level.missing.empty()) return absl::StrCat("- (", level.missing, ")");
  const auto ns = [](double value) {
    return FormatNs(static_cast<uint64_t>(std::min(value, 1e18)));
  };
  return absl::StrCat(ns(level.level_ns), " (", ns(level.interval_ns.lower),
                      " to ", ns(level.interval_ns.upper), ")");
}

EvidenceTable LongestOf(const VerdictRecord& r) {
  EvidenceTable table = {"Longest holds after the upgrade",
                         {{"what"}, {"upgraded"}, {"not upgraded"}},
                         {},
                         {}};
  if (!r.longest_treated.has_value() && !r.longest_controls.has_value()) {
    return table;
  }
  const auto add = [&](const char* name, auto text) {
    const auto cell = [&](const std::optional<ReturnLevel>& level) {
      return level.has_value() ? text(*level) : std::string(kNone);
    };
    table.rows.push_back(
        {name, cell(r.longest_treated), cell(r.longest_controls)});
  };
  add("longest hold",
      [](const ReturnLevel& level) { return FormatNs(level.longest_ns); });
  add("host-days",
      [](const ReturnLevel& level) { return absl::StrCat(level.host_days); });
  add("of them over 10 ms", [](const ReturnLevel& level) {
    return absl::StrCat(level.days_over_10ms);
  });
  add("passed once in 1,000 host-days", LevelText);
  return table;
}

std::vector<EvidenceTable> After(EvidenceTable first, const VerdictRecord& r) {
  std::vector<EvidenceTable> out;
  for (EvidenceTable table :
       {std::move(first), EffectsOf(r), TestsOf(r), ArmsOf(r), GatesOf(r),
        StrataTable(r), TopHostsOf(r), SecondaryOf(r), QuantilesOf(r),
        LongestOf(r)}) {
    if (!table.rows.empty() || !table.notes.empty()) {
      out.push_back(std::move(table));
    }
  }
  return out;
}

}  // namespace

std::vector<EvidenceTable> EvidenceOf(const VerdictRecord& record) {
  return After(FactsOf(record), record);
}

std::vector<EvidenceTable> EvidenceOf(const StoredVerdict& verdict) {
  return After(LifeOf(verdict), verdict.record);
}

}  // namespace swaplock
