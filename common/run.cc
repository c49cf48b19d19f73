#include "common/run.h"

#include <google/protobuf/util/json_util.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("run: ", what));
}

}  // namespace

void Measurement::Add(uint64_t ns) {
  latency.Add(ns);
  sum_of_squares_ns2 += static_cast<double>(ns) * static_cast<double>(ns);
}

void Measurement::Merge(const Measurement& other) {
  threads += other.threads;
  latency.Merge(other.latency);
  sum_of_squares_ns2 += other.sum_of_squares_ns2;
}

v1::RunBegin ToProto(const RunBegin& begin) {
  v1::RunBegin out;
  out.set_id(begin.id);
  out.set_name(begin.name);
  out.set_variant(begin.variant);
  out.set_repetition(begin.repetition);
  for (const std::string& word : begin.command) out.add_command(word);
  for (const auto& [name, value] : begin.labels) {
    (*out.mutable_labels())[name] = value;
  }
  out.set_host_id(begin.host_id);
  out.set_boot_id(begin.boot_id);
  *out.mutable_environment() = ToProto(begin.environment);
  out.set_begin_boottime_ns(begin.begin_boottime_ns);
  out.set_begin_unix_ns(begin.begin_unix_ns);
  return out;
}

v1::RunResult ToProto(const RunResult& result) {
  v1::RunResult out;
  for (const Measurement& measurement : result.measurements) {
    v1::Measurement* to = out.add_measurements();
    to->set_name(measurement.name);
    to->set_threads(measurement.threads);
    to->set_nice(measurement.nice);
    *to->mutable_latency() = ToProto(measurement.latency);
    to->set_sum_of_squares_ns2(measurement.sum_of_squares_ns2);
  }
  for (const auto& [name, value] : result.facts) {
    (*out.mutable_facts())[name] = value;
  }
  return out;
}

v1::RunEnd ToProto(const RunEnd& end) {
  v1::RunEnd out;
  out.set_run_id(end.run_id);
  out.set_end_boottime_ns(end.end_boottime_ns);
  out.set_end_unix_ns(end.end_unix_ns);
  out.set_exit_status(end.exit_status);
  out.set_signal(end.signal);
  out.set_error(end.error);
  *out.mutable_result() = ToProto(end.result);
  return out;
}

absl::StatusOr<RunBegin> FromProto(const v1::RunBegin& in) {
  if (in.id().empty()) return Bad("id is empty");
  if (in.name().empty()) return Bad("name is empty");
  if (in.boot_id().size() != 16) {
    return Bad(absl::StrCat("boot_id has ", in.boot_id().size(),
                            " bytes instead of 16"));
  }
  RunBegin out;
  out.id = in.id();
  out.name = in.name();
  out.variant = in.variant();
  out.repetition = in.repetition();
  out.command.assign(in.command().begin(), in.command().end());
  out.labels.insert(in.labels().begin(), in.labels().end());
  out.host_id = in.host_id();
  out.boot_id = in.boot_id();
  out.environment = FromProto(in.environment());
  out.begin_boottime_ns = in.begin_boottime_ns();
  out.begin_unix_ns = in.begin_unix_ns();
  return out;
}

absl::StatusOr<RunResult> FromProto(const v1::RunResult& in) {
  RunResult out;
  for (const v1::Measurement& message : in.measurements()) {
    absl::StatusOr<Distribution> latency =
        FromProto(message.latency(), message.name());
    if (!latency.ok()) return latency.status();
    out.measurements.push_back({message.name(), message.threads(),
                                message.nice(), *std::move(latency),
                                message.sum_of_squares_ns2()});
  }
  out.facts.insert(in.facts().begin(), in.facts().end());
  return out;
}

absl::StatusOr<RunEnd> FromProto(const v1::RunEnd& in) {
  if (in.run_id().empty()) return Bad("an end has no run_id");
  absl::StatusOr<RunResult> result = FromProto(in.result());
  if (!result.ok()) return result.status();
  RunEnd out;
  out.run_id = in.run_id();
  out.end_boottime_ns = in.end_boottime_ns();
  out.end_unix_ns = in.end_unix_ns();
  out.exit_status = in.exit_status();
  out.signal = in.signal();
  out.error = in.error();
  out.result = *std::move(result);
  return out;
}

std::string ResultJson(const RunResult& result) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails only for texts that are not UTF-8, and ours are.
  const auto status = google::protobuf::util::MessageToJsonString(
      ToProto(result), &json, options);
  return status.ok() ? absl::StrCat(json, "\n") : "";
}

absl::StatusOr<RunResult> ParseResultJson(absl::string_view json) {
  v1::RunResult message;
  const auto status =
      google::protobuf::util::JsonStringToMessage(std::string(json), &message);
  if (!status.ok()) {
    return Bad(absl::StrCat("its result is no RunResult in JSON: ",
                            std::string(status.message())));
  }
  return FromProto(message);
}

}  // namespace swaplock
