#include "server/judge/evaluation_message.h"

#include <string>

#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_message.h"

namespace swaplock {
namespace {

uint64_t UnixNs(absl::Time time) {
  return static_cast<uint64_t>(absl::ToUnixNanos(time));
}

absl::Time TimeOf(uint64_t unix_ns) {
  return absl::FromUnixNanos(static_cast<int64_t>(unix_ns));
}

}  // namespace

v1::VerdictEvaluation ToProto(const Evaluation& evaluation) {
  v1::VerdictEvaluation out;
  const EvaluationInput& input = evaluation.input;
  out.set_id(evaluation.id);
  out.set_kernel_base(input.pair.base);
  out.set_kernel_new(input.pair.newer);
  out.set_chosen_because(input.because);
  out.set_planned_end(input.planned_end.value_or(0));
  out.set_engine(evaluation.engine);
  *out.mutable_rules() = ToProto(input.rules);
  out.set_made_for_day(input.today);
  out.set_first_day(evaluation.first_day);
  out.set_last_day(evaluation.last_day);
  for (const std::string& host : input.without) out.add_without_hosts(host);
  out.set_rows_hash(evaluation.rows_hash);
  out.set_ended(evaluation.ended);
  out.set_look(evaluation.look);
  out.set_hosts_upgraded(evaluation.hosts_upgraded);
  out.set_hosts_waiting(evaluation.hosts_waiting);
  out.set_controls(evaluation.controls);
  for (const Holdback& holdback : evaluation.holdback) {
    *out.add_holdback() = ToProto(holdback);
  }
  out.set_judged_unix_ns(UnixNs(evaluation.judged));
  return out;
}

Evaluation FromProto(const v1::VerdictEvaluation& message) {
  Evaluation out;
  EvaluationInput& input = out.input;
  out.id = message.id();
  input.pair = {message.kernel_base(), message.kernel_new()};
  input.because = message.chosen_because();
  if (message.planned_end() != 0) input.planned_end = message.planned_end();
  out.engine = message.engine();
  input.rules = FromProto(message.rules());
  input.today = message.made_for_day();
  out.first_day = message.first_day();
  out.last_day = message.last_day();
  input.without.insert(message.without_hosts().begin(),
                       message.without_hosts().end());
  out.rows_hash = message.rows_hash();
  out.ended = message.ended();
  out.look = message.look();
  out.hosts_upgraded = message.hosts_upgraded();
  out.hosts_waiting = message.hosts_waiting();
  out.controls = message.controls();
  for (const v1::Holdback& holdback : message.holdback()) {
    out.holdback.push_back(FromProto(holdback));
  }
  out.judged = TimeOf(message.judged_unix_ns());
  return out;
}

absl::StatusOr<Evaluation> ParseEvaluation(absl::string_view bytes) {
  v1::VerdictEvaluation message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("a stored evaluation cannot be read");
  }
  return FromProto(message);
}

}  // namespace swaplock
