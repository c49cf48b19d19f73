#include "server/verdict/verdict_message.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

static_assert(static_cast<int>(VerdictKind::kDataQuality) ==
              v1::VerdictKind_MAX);
static_assert(static_cast<int>(VerdictKind::kRegression) ==
              v1::VERDICT_KIND_REGRESSION);

constexpr VerdictOutcome kOutcomes[] = {
    VerdictOutcome::kWaitsOver10ms,  VerdictOutcome::kRunnable,
    VerdictOutcome::kContended,      VerdictOutcome::kWaitsOver1ms,
    VerdictOutcome::kWaitsOver100ms, VerdictOutcome::kWaitsOver10msPerHour,
    VerdictOutcome::kSlowOperations,
};
constexpr Design kDesigns[] = {
    Design::kBeforeAfterWithControls,
    Design::kParallelGroups,
    Design::kBeforeAfter,
    Design::kChangePoint,
};

constexpr char kUpgraded[] = "upgraded";
constexpr char kControl[] = "control";
constexpr char kWorse[] = "worse";
constexpr char kBetter[] = "better";

// The one of `all` with this name.
template <typename Enum, size_t n>
absl::StatusOr<Enum> ByName(const Enum (&all)[n], const std::string& name) {
  for (const Enum value : all) {
    if (Name(value) == name) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" has no meaning in this version"));
}

void Set(const Effect& from, v1::VerdictRecord::Effect* to) {
  to->set_ratio(from.ratio);
  to->set_lower(from.lower);
  to->set_upper(from.upper);
}

Effect EffectOf(const v1::VerdictRecord::Effect& from) {
  return {from.ratio(), from.lower(), from.upper()};
}

void Set(const ArmTotals& from, v1::VerdictRecord::ArmTotals* to) {
  to->set_hosts(from.hosts);
  to->set_hours_before(from.hours_before);
  to->set_hours_after(from.hours_after);
  to->set_operations_before(from.operations_before);
  to->set_operations_after(from.operations_after);
  to->set_events_before(from.events_before);
  to->set_events_after(from.events_after);
  to->set_episodes_before(from.episodes_before);
  to->set_episodes_after(from.episodes_after);
  to->set_left_out_measured_otherwise(from.left_out_measured_otherwise);
  to->set_left_out_few_operations(from.left_out_few_operations);
  to->set_left_out_other_workload(from.left_out_other_workload);
  to->set_left_out_not_rebooted(from.left_out_not_rebooted);
  to->set_vanished(from.vanished);
}

ArmTotals TotalsOf(const v1::VerdictRecord::ArmTotals& from) {
  ArmTotals to;
  to.hosts = from.hosts();
  to.hours_before = from.hours_before();
  to.hours_after = from.hours_after();
  to.operations_before = from.operations_before();
  to.operations_after = from.operations_after();
  to.events_before = from.events_before();
  to.events_after = from.events_after();
  to.episodes_before = from.episodes_before();
  to.episodes_after = from.episodes_after();
  to.left_out_measured_otherwise = from.left_out_measured_otherwise();
  to.left_out_few_operations = from.left_out_few_operations();
  to.left_out_other_workload = from.left_out_other_workload();
  to.left_out_not_rebooted = from.left_out_not_rebooted();
  to.vanished = from.vanished();
  return to;
}

void Set(const SequentialEvidence& from, v1::VerdictRecord::Sequential* to) {
  to->set_pairs(from.pairs);
  to->set_worse(from.worse);
  to->set_better(from.better);
  to->set_log_e_worse(from.log_e_worse);
  to->set_log_e_better(from.log_e_better);
  to->set_p_worse(from.p_worse);
  to->set_p_better(from.p_better);
  if (!from.alarm.has_value()) return;
  to->set_alarm(*from.alarm == Direction::kHigher ? kWorse : kBetter);
  to->set_alarm_day(from.alarm_day);
}

SequentialEvidence SequentialOf(const v1::VerdictRecord::Sequential& from) {
  SequentialEvidence to;
  to.pairs = from.pairs();
  to.worse = from.worse();
  to.better = from.better();
  to.log_e_worse = from.log_e_worse();
  to.log_e_better = from.log_e_better();
  to.p_worse = from.p_worse();
  to.p_better = from.p_better();
  if (from.alarm() == kWorse) to.alarm = Direction::kHigher;
  if (from.alarm() == kBetter) to.alarm = Direction::kLower;
  to.alarm_day = from.alarm_day();
  return to;
}

void Set(const QuantileRatio& from, v1::VerdictRecord::Effect* to,
         std::string* missing) {
  to->set_ratio(from.ratio);
  to->set_lower(from.interval.lower);
  to->set_upper(from.interval.upper);
  *missing = from.missing;
}

QuantileRatio RatioOf(const v1::VerdictRecord::Effect& from,
                      const std::string& missing) {
  QuantileRatio to;
  to.ratio = from.ratio();
  to.interval = {from.lower(), from.upper()};
  to.missing = missing;
  return to;
}

void Set(const ReturnLevel& from, v1::VerdictRecord::ReturnLevel* to) {
  to->set_host_days(from.host_days);
  to->set_longest_ns(from.longest_ns);
  to->set_days_over_10ms(from.days_over_10ms);
  to->set_level_ns(from.level_ns);
  to->set_lower_ns(from.interval_ns.lower);
  to->set_upper_ns(from.interval_ns.upper);
  to->set_shape(from.shape);
  to->set_missing(from.missing);
  to->set_share_bound(from.share_bound);
}

ReturnLevel LevelOf(const v1::VerdictRecord::ReturnLevel& from) {
  ReturnLevel to;
  to.host_days = from.host_days();
  to.longest_ns = from.longest_ns();
  to.days_over_10ms = from.days_over_10ms();
  to.level_ns = from.level_ns();
  to.interval_ns = {from.lower_ns(), from.upper_ns()};
  to.shape = from.shape();
  to.missing = from.missing();
  to.share_bound = from.share_bound();
  return to;
}

void SetTables(const VerdictRecord& r, v1::VerdictRecord* out) {
  for (const Gate& gate : r.gates) {
    v1::VerdictRecord::Gate* to = out->add_gates();
    to->set_name(gate.name);
    to->set_passed(gate.passed);
    to->set_value(gate.value);
  }
  for (const StratumResult& stratum : r.strata) {
    v1::VerdictRecord::Stratum* to = out->add_strata();
    to->set_name(stratum.name);
    to->set_treated(stratum.treated);
    to->set_controls(stratum.controls);
    Set(stratum.effect, to->mutable_effect());
  }
  for (const TopHost& host : r.top_hosts) {
    v1::VerdictRecord::TopHost* to = out->add_top_hosts();
    to->set_host_id(host.host_id);
    to->set_arm(host.arm == Arm::kTreated ? kUpgraded : kControl);
    to->set_events_after(host.events_after);
    to->set_share(host.share);
    to->set_ratio(host.ratio);
  }
  for (const SecondaryResult& secondary : r.secondary) {
    v1::VerdictRecord::Secondary* to = out->add_secondary();
    to->set_outcome(std::string(Name(secondary.outcome)));
    to->set_p_worse(secondary.p_worse);
    to->set_p_better(secondary.p_better);
    Set(secondary.effect, to->mutable_effect());
  }
  for (const QuantileChange& quantile : r.quantiles) {
    v1::VerdictRecord::Quantile* to = out->add_quantiles();
    to->set_quantile(quantile.quantile);
    Set(quantile.treated, to->mutable_treated(), to->mutable_treated_missing());
    Set(quantile.controls, to->mutable_controls(),
        to->mutable_controls_missing());
  }
}

absl::Status ReadTables(const v1::VerdictRecord& message, VerdictRecord* r) {
  for (const auto& gate : message.gates()) {
    r->gates.push_back({gate.name(), gate.passed(), gate.value()});
  }
  for (const auto& stratum : message.strata()) {
    r->strata.push_back({stratum.name(), stratum.treated(), stratum.controls(),
                         EffectOf(stratum.effect())});
  }
  for (const auto& host : message.top_hosts()) {
    r->top_hosts.push_back(
        {host.host_id(), host.arm() == kControl ? Arm::kControl : Arm::kTreated,
         host.events_after(), host.share(), host.ratio()});
  }
  for (const auto& secondary : message.secondary()) {
    const auto outcome = ByName(kOutcomes, secondary.outcome());
    if (!outcome.ok()) return outcome.status();
    r->secondary.push_back({*outcome, secondary.p_worse(), secondary.p_better(),
                            EffectOf(secondary.effect())});
  }
  for (const auto& quantile : message.quantiles()) {
    r->quantiles.push_back(
        {quantile.quantile(),
         RatioOf(quantile.treated(), quantile.treated_missing()),
         RatioOf(quantile.controls(), quantile.controls_missing())});
  }
  return absl::OkStatus();
}

template <typename Repeated>
std::vector<std::string> Strings(const Repeated& from) {
  return {from.begin(), from.end()};
}

}  // namespace

v1::VerdictRecord ToProto(const VerdictRecord& r) {
  v1::VerdictRecord out;
  out.set_kernel_base(r.kernel_base);
  out.set_kernel_new(r.kernel_new);
  out.set_subsystem(static_cast<v1::Subsystem>(r.subsystem));
  out.set_operation(static_cast<v1::Operation>(r.operation));
  out.set_outcome(std::string(Name(r.outcome)));
  out.set_design(std::string(Name(r.design)));
  out.set_kind(static_cast<v1::VerdictKind>(r.kind));
  out.set_sentence(r.sentence);
  out.set_reason(r.reason);
  for (const std::string& finding : r.findings) out.add_findings(finding);
  Set(r.treated, out.mutable_treated());
  Set(r.controls, out.mutable_controls());
  out.set_p_worse(r.p_worse);
  out.set_p_better(r.p_better);
  out.set_adjusted_p(r.adjusted_p);
  out.set_p_exact(r.p_exact);
  out.set_smallest_p(r.smallest_p);
  out.set_family(r.family);
  Set(r.effect, out.mutable_effect());
  Set(r.fleet, out.mutable_fleet());
  out.set_p_without_one_host(r.p_without_one_host);
  Set(r.sequential, out.mutable_sequential());
  out.set_detectable_ratio(r.detectable_ratio);
  out.set_hosts_needed(r.hosts_needed);
  out.set_heterogeneity_q(r.heterogeneity_q);
  out.set_heterogeneity_i2(r.heterogeneity_i2);
  for (const std::string& build : r.builds_before) out.add_builds_before(build);
  for (const std::string& build : r.builds_after) out.add_builds_after(build);
  for (const std::string& change : r.co_changes) out.add_co_changes(change);
  out.set_lock_model_base(r.lock_model_base);
  out.set_lock_model_new(r.lock_model_new);
  out.set_runnable_share_before(r.runnable_share_before);
  out.set_runnable_share_after(r.runnable_share_after);
  SetTables(r, &out);
  if (r.longest_treated.has_value()) {
    Set(*r.longest_treated, out.mutable_longest_treated());
  }
  if (r.longest_controls.has_value()) {
    Set(*r.longest_controls, out.mutable_longest_controls());
  }
  out.set_seed(r.seed);
  if (r.change.has_value()) {
    out.mutable_change()->set_day(r.change->day);
    out.mutable_change()->set_first(r.change->first);
    out.mutable_change()->set_last(r.change->last);
  }
  return out;
}

absl::StatusOr<VerdictRecord> FromProto(const v1::VerdictRecord& message) {
  VerdictRecord r;
  r.kernel_base = message.kernel_base();
  r.kernel_new = message.kernel_new();
  r.subsystem = static_cast<Subsystem>(message.subsystem());
  r.operation = static_cast<Operation>(message.operation());
  const auto outcome = ByName(kOutcomes, message.outcome());
  if (!outcome.ok()) return outcome.status();
  r.outcome = *outcome;
  const auto design = ByName(kDesigns, message.design());
  if (!design.ok()) return design.status();
  r.design = *design;
  r.kind = static_cast<VerdictKind>(message.kind());
  r.sentence = message.sentence();
  r.reason = message.reason();
  r.findings = Strings(message.findings());
  r.treated = TotalsOf(message.treated());
  r.controls = TotalsOf(message.controls());
  r.p_worse = message.p_worse();
  r.p_better = message.p_better();
  r.adjusted_p = message.adjusted_p();
  r.p_exact = message.p_exact();
  r.smallest_p = message.smallest_p();
  r.family = message.family();
  r.effect = EffectOf(message.effect());
  r.fleet = EffectOf(message.fleet());
  r.p_without_one_host = message.p_without_one_host();
  r.sequential = SequentialOf(message.sequential());
  r.detectable_ratio = message.detectable_ratio();
  r.hosts_needed = message.hosts_needed();
  r.heterogeneity_q = message.heterogeneity_q();
  r.heterogeneity_i2 = message.heterogeneity_i2();
  r.builds_before = Strings(message.builds_before());
  r.builds_after = Strings(message.builds_after());
  r.co_changes = Strings(message.co_changes());
  r.lock_model_base = message.lock_model_base();
  r.lock_model_new = message.lock_model_new();
  r.runnable_share_before = message.runnable_share_before();
  r.runnable_share_after = message.runnable_share_after();
  if (absl::Status s = ReadTables(message, &r); !s.ok()) return s;
  if (message.has_longest_treated()) {
    r.longest_treated = LevelOf(message.longest_treated());
  }
  if (message.has_longest_controls()) {
    r.longest_controls = LevelOf(message.longest_controls());
  }
  r.seed = message.seed();
  if (message.has_change()) {
    r.change = ChangeDays{message.change().day(), message.change().first(),
                          message.change().last()};
  }
  return r;
}

v1::VerdictRules ToProto(const RolloutRules& rules) {
  v1::VerdictRules out;
  out.set_margin(rules.margin);
  out.set_tail(rules.tail);
  out.set_q_fixed(rules.q_fixed);
  out.set_q_sequential(rules.q_sequential);
  out.set_ended(rules.ended);
  out.set_parallel_groups_may_flag(rules.parallel_groups_may_flag);
  out.set_min_hosts(rules.min_hosts);
  out.set_stratum_hosts(rules.stratum_hosts);
  out.set_firm_stratum_hosts(rules.firm_stratum_hosts);
  out.set_min_operations(rules.min_operations);
  out.set_min_hours(rules.min_hours);
  out.set_min_events(rules.min_events);
  out.set_min_event_hosts(rules.min_event_hosts);
  out.set_min_pairs_shown(rules.min_pairs_shown);
  out.set_workload_ratio(rules.workload_ratio);
  out.set_max_attrition_points(rules.max_attrition_points);
  out.set_max_lost_percent(rules.max_lost_percent);
  out.set_max_lost_points(rules.max_lost_points);
  out.set_max_censored_percent(rules.max_censored_percent);
  out.set_max_censored_points(rules.max_censored_points);
  out.set_single_host_share(rules.single_host_share);
  out.set_sure_events(rules.sure_events);
  return out;
}

RolloutRules FromProto(const v1::VerdictRules& message) {
  RolloutRules rules;
  rules.margin = message.margin();
  rules.tail = message.tail();
  rules.q_fixed = message.q_fixed();
  rules.q_sequential = message.q_sequential();
  rules.ended = message.ended();
  rules.parallel_groups_may_flag = message.parallel_groups_may_flag();
  rules.min_hosts = message.min_hosts();
  rules.stratum_hosts = message.stratum_hosts();
  rules.firm_stratum_hosts = message.firm_stratum_hosts();
  rules.min_operations = message.min_operations();
  rules.min_hours = message.min_hours();
  rules.min_events = message.min_events();
  rules.min_event_hosts = message.min_event_hosts();
  rules.min_pairs_shown = message.min_pairs_shown();
  rules.workload_ratio = message.workload_ratio();
  rules.max_attrition_points = message.max_attrition_points();
  rules.max_lost_percent = message.max_lost_percent();
  rules.max_lost_points = message.max_lost_points();
  rules.max_censored_percent = message.max_censored_percent();
  rules.max_censored_points = message.max_censored_points();
  rules.single_host_share = message.single_host_share();
  rules.sure_events = message.sure_events();
  return rules;
}

std::string Serialize(const VerdictRecord& record) {
  return ToProto(record).SerializeAsString();
}

absl::StatusOr<VerdictRecord> ParseVerdictRecord(absl::string_view bytes) {
  v1::VerdictRecord message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("a stored verdict cannot be read");
  }
  return FromProto(message);
}

}  // namespace swaplock
