#include "server/verdict/verdict_book_message.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plain_text.h"
#include "server/verdict/verdict_message.h"

namespace swaplock {
namespace {

static_assert(static_cast<int>(VerdictState::kNew) + 1 ==
              v1::VERDICT_STATE_NEW);
static_assert(static_cast<int>(VerdictState::kSuppressed) + 1 ==
              v1::VerdictState_MAX);

uint64_t UnixNs(absl::Time time) {
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return 0;
  return static_cast<uint64_t>(absl::ToUnixNanos(time));
}

// `none` is what a message says with 0.
absl::Time TimeOf(uint64_t unix_ns, absl::Time none) {
  return unix_ns == 0 ? none
                      : absl::FromUnixNanos(static_cast<int64_t>(unix_ns));
}

absl::StatusOr<VerdictOutcome> OutcomeByName(const std::string& name) {
  for (const VerdictOutcome outcome :
       {VerdictOutcome::kWaitsOver10ms, VerdictOutcome::kRunnable,
        VerdictOutcome::kContended, VerdictOutcome::kWaitsOver1ms,
        VerdictOutcome::kWaitsOver100ms, VerdictOutcome::kWaitsOver10msPerHour,
        VerdictOutcome::kSlowOperations}) {
    if (Name(outcome) == name) return outcome;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the outcome \"", PlainText(name, 64), "\" is unknown to this version"));
}

v1::VerdictMark ToProto(const VerdictMark& mark) {
  v1::VerdictMark out;
  out.set_state(
      static_cast<v1::VerdictState>(static_cast<int>(mark.state) + 1));
  out.set_by(mark.by);
  out.set_reason(mark.reason);
  out.set_at_unix_ns(UnixNs(mark.at));
  out.set_until_unix_ns(UnixNs(mark.until));
  return out;
}

VerdictMark FromProto(const v1::VerdictMark& message) {
  VerdictMark out;
  if (message.state() == v1::VERDICT_STATE_ACKNOWLEDGED) {
    out.state = VerdictState::kAcknowledged;
  } else if (message.state() == v1::VERDICT_STATE_SUPPRESSED) {
    out.state = VerdictState::kSuppressed;
  }
  out.by = message.by();
  out.reason = message.reason();
  out.at = TimeOf(message.at_unix_ns(), absl::Time());
  out.until = TimeOf(message.until_unix_ns(), absl::InfiniteFuture());
  return out;
}

v1::SelfTestReport::Outcome ToProto(const SelfTestResult& result) {
  v1::SelfTestReport::Outcome out;
  out.set_subsystem(static_cast<v1::Subsystem>(result.operation.first));
  out.set_operation(static_cast<v1::Operation>(result.operation.second));
  out.set_outcome(std::string(Name(result.outcome)));
  out.set_splits(result.splits);
  out.set_rejected(result.rejected);
  out.set_flagged(result.flagged);
  out.set_share(result.splits == 0 ? kNoNumber
                                   : static_cast<double>(result.rejected) /
                                         static_cast<double>(result.splits));
  out.set_lower(result.share.lower);
  out.set_upper(result.share.upper);
  out.set_broken(result.broken);
  return out;
}

absl::StatusOr<SelfTestResult> FromProto(
    const v1::SelfTestReport::Outcome& message) {
  SelfTestResult out;
  out.operation = {static_cast<Subsystem>(message.subsystem()),
                   static_cast<Operation>(message.operation())};
  absl::StatusOr<VerdictOutcome> outcome = OutcomeByName(message.outcome());
  if (!outcome.ok()) return outcome.status();
  out.outcome = *outcome;
  out.splits = message.splits();
  out.rejected = message.rejected();
  out.flagged = message.flagged();
  out.share = {message.lower(), message.upper()};
  out.broken = message.broken();
  return out;
}

using Results = google::protobuf::RepeatedPtrField<v1::SelfTestReport::Outcome>;

absl::Status AddTo(const Results& messages, std::vector<SelfTestResult>* out) {
  for (const v1::SelfTestReport::Outcome& message : messages) {
    absl::StatusOr<SelfTestResult> result = FromProto(message);
    if (!result.ok()) return result.status();
    out->push_back(*std::move(result));
  }
  return absl::OkStatus();
}

}  // namespace

v1::StoredVerdict ToProto(const StoredVerdict& verdict) {
  v1::StoredVerdict out;
  out.set_id(verdict.id);
  out.set_version(verdict.version);
  out.set_engine(static_cast<uint32_t>(verdict.engine));
  out.set_evaluation(verdict.evaluation);
  *out.mutable_record() = ToProto(verdict.record);
  out.set_first_day(verdict.first_day);
  out.set_last_day(verdict.last_day);
  out.set_first_judged_unix_ns(UnixNs(verdict.first_judged));
  out.set_since_unix_ns(UnixNs(verdict.since));
  out.set_judged_unix_ns(UnixNs(verdict.judged));
  *out.mutable_mark() = ToProto(verdict.mark);
  out.set_incident(verdict.incident);
  out.set_went_away(verdict.went_away);
  out.set_alerts(verdict.alerts);
  out.set_silent_because(verdict.silent_because);
  return out;
}

v1::Incident ToProto(const Incident& incident) {
  v1::Incident out;
  out.set_id(incident.id);
  out.set_kernel_base(incident.pair.base);
  out.set_kernel_new(incident.pair.newer);
  out.set_opened_unix_ns(UnixNs(incident.opened));
  out.set_closed_unix_ns(UnixNs(incident.closed));
  for (const uint64_t id : incident.verdicts) out.add_verdicts(id);
  out.set_sentence(incident.sentence);
  return out;
}

v1::Holdback ToProto(const Holdback& holdback) {
  v1::Holdback out;
  out.set_stratum(holdback.stratum);
  out.set_treated(holdback.treated);
  out.set_controls(holdback.controls);
  out.set_unpaired(holdback.unpaired);
  out.set_keep(holdback.keep);
  out.set_advice(holdback.advice);
  return out;
}

v1::JudgedPair ToProto(const JudgedPair& pair) {
  v1::JudgedPair out;
  out.set_kernel_base(pair.pair.base);
  out.set_kernel_new(pair.pair.newer);
  out.set_chosen_because(pair.chosen_because);
  out.set_ended(pair.ended);
  out.set_look(pair.look);
  out.set_hosts_upgraded(pair.hosts_upgraded);
  out.set_hosts_waiting(pair.hosts_waiting);
  out.set_controls(pair.controls);
  out.set_last_day(pair.last_day);
  out.set_judged_unix_ns(UnixNs(pair.judged));
  for (const Holdback& holdback : pair.holdback) {
    *out.add_holdback() = ToProto(holdback);
  }
  return out;
}

v1::SelfTestReport ToProto(const SelfTestReport& report) {
  v1::SelfTestReport out;
  out.set_kernel_release(report.kernel_release);
  out.set_hosts(report.hosts);
  out.set_splits(report.splits);
  out.set_last_day(report.last_day);
  out.set_made_unix_ns(UnixNs(report.made));
  out.set_missing(report.missing);
  for (const SelfTestResult& result : report.false_alarms) {
    *out.add_false_alarms() = ToProto(result);
  }
  out.set_spike(report.spike);
  for (const SelfTestResult& result : report.power) {
    *out.add_power() = ToProto(result);
  }
  return out;
}

v1::VerdictBook ToProto(const VerdictBook& book) {
  v1::VerdictBook out;
  for (const StoredVerdict& verdict : book.verdicts) {
    *out.add_verdicts() = ToProto(verdict);
  }
  for (const Incident& incident : book.incidents) {
    *out.add_incidents() = ToProto(incident);
  }
  for (const JudgedPair& pair : book.pairs) *out.add_pairs() = ToProto(pair);
  *out.mutable_self_test() = ToProto(book.self_test);
  out.set_judged_unix_ns(UnixNs(book.judged));
  out.set_remark(book.remark);
  return out;
}

v1::KernelComparison ToProto(const PairComparison& comparison) {
  v1::KernelComparison out;
  out.set_kernel_base(comparison.pair.base);
  out.set_kernel_new(comparison.pair.newer);
  out.set_ended(comparison.ended);
  out.set_hosts_upgraded(comparison.hosts_upgraded);
  out.set_hosts_waiting(comparison.hosts_waiting);
  out.set_controls(comparison.controls);
  out.set_first_day(comparison.first_day);
  out.set_last_day(comparison.last_day);
  for (const VerdictRecord& record : comparison.verdicts) {
    *out.add_verdicts() = ToProto(record);
  }
  out.set_remark(comparison.remark);
  return out;
}

Holdback FromProto(const v1::Holdback& message) {
  return {message.stratum(),  message.treated(), message.controls(),
          message.unpaired(), message.keep(),    message.advice()};
}

absl::StatusOr<StoredVerdict> FromProto(const v1::StoredVerdict& message) {
  StoredVerdict out;
  out.id = message.id();
  out.version = message.version();
  out.engine = static_cast<int>(message.engine());
  out.evaluation = message.evaluation();
  absl::StatusOr<VerdictRecord> record = FromProto(message.record());
  if (!record.ok()) return record.status();
  out.record = *std::move(record);
  out.first_day = message.first_day();
  out.last_day = message.last_day();
  out.first_judged = TimeOf(message.first_judged_unix_ns(), absl::Time());
  out.since = TimeOf(message.since_unix_ns(), absl::Time());
  out.judged = TimeOf(message.judged_unix_ns(), absl::Time());
  out.mark = FromProto(message.mark());
  out.incident = message.incident();
  out.went_away = message.went_away();
  out.alerts = message.alerts();
  out.silent_because = message.silent_because();
  return out;
}

Incident FromProto(const v1::Incident& message) {
  Incident out;
  out.id = message.id();
  out.pair = {message.kernel_base(), message.kernel_new()};
  out.opened = TimeOf(message.opened_unix_ns(), absl::Time());
  out.closed = TimeOf(message.closed_unix_ns(), absl::InfiniteFuture());
  out.verdicts = {message.verdicts().begin(), message.verdicts().end()};
  out.sentence = message.sentence();
  return out;
}

JudgedPair FromProto(const v1::JudgedPair& message) {
  JudgedPair out;
  out.pair = {message.kernel_base(), message.kernel_new()};
  out.chosen_because = message.chosen_because();
  out.ended = message.ended();
  out.look = message.look();
  out.hosts_upgraded = message.hosts_upgraded();
  out.hosts_waiting = message.hosts_waiting();
  out.controls = message.controls();
  out.last_day = message.last_day();
  out.judged = TimeOf(message.judged_unix_ns(), absl::Time());
  for (const v1::Holdback& holdback : message.holdback()) {
    out.holdback.push_back(FromProto(holdback));
  }
  return out;
}

absl::StatusOr<SelfTestReport> FromProto(const v1::SelfTestReport& message) {
  SelfTestReport out;
  out.kernel_release = message.kernel_release();
  out.hosts = message.hosts();
  out.splits = message.splits();
  out.last_day = message.last_day();
  out.made = TimeOf(message.made_unix_ns(), absl::InfinitePast());
  out.missing = message.missing();
  absl::Status status = AddTo(message.false_alarms(), &out.false_alarms);
  out.spike = message.spike();
  status.Update(AddTo(message.power(), &out.power));
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<VerdictBook> FromProto(const v1::VerdictBook& message) {
  VerdictBook out;
  for (const v1::StoredVerdict& verdict : message.verdicts()) {
    absl::StatusOr<StoredVerdict> value = FromProto(verdict);
    if (!value.ok()) return value.status();
    out.verdicts.push_back(*std::move(value));
  }
  for (const v1::Incident& incident : message.incidents()) {
    out.incidents.push_back(FromProto(incident));
  }
  for (const v1::JudgedPair& pair : message.pairs()) {
    out.pairs.push_back(FromProto(pair));
  }
  absl::StatusOr<SelfTestReport> report = FromProto(message.self_test());
  if (!report.ok()) return report.status();
  out.self_test = *std::move(report);
  out.judged = TimeOf(message.judged_unix_ns(), absl::InfinitePast());
  out.remark = message.remark();
  return out;
}

absl::StatusOr<PairComparison> FromProto(const v1::KernelComparison& message) {
  PairComparison out;
  out.pair = {message.kernel_base(), message.kernel_new()};
  out.ended = message.ended();
  out.hosts_upgraded = message.hosts_upgraded();
  out.hosts_waiting = message.hosts_waiting();
  out.controls = message.controls();
  out.first_day = message.first_day();
  out.last_day = message.last_day();
  for (const v1::VerdictRecord& record : message.verdicts()) {
    absl::StatusOr<VerdictRecord> value = FromProto(record);
    if (!value.ok()) return value.status();
    out.verdicts.push_back(*std::move(value));
  }
  out.remark = message.remark();
  return out;
}

}  // namespace swaplock
