#include "cli/report/report_export.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/report/report_environment.h"
#include "cli/report/run_statistics.h"
#include "common/cell.h"
#include "common/plain_text.h"
#include "common/version.h"
#include "common/window.h"
#include "proto/report.pb.h"

namespace swaplock {
namespace {

std::string TierOr(Tier tier) {
  return tier == Tier::kUnspecified ? "" : std::string(Name(tier));
}

void SetKey(const CellKey& key, v1::Report::Subject* out) {
  out->set_subsystem(std::string(Name(key.subsystem)));
  out->set_operation(std::string(Name(key.operation)));
  out->set_role(std::string(Name(key.role)));
  out->set_mode(std::string(Name(key.mode)));
  out->set_device(key.device);
  out->set_algorithm(key.algorithm);
}

// Of Numbers or GroupNumbers.
template <typename AnyNumbers>
void SetSubject(const AnyNumbers& numbers, v1::Report::Subject* out) {
  const Subject& subject = numbers.subject;
  out->set_kind(std::string(Name(subject.kind)));
  if (subject.kind == Subject::Kind::kMeasurement) {
    out->set_measurement(subject.measurement);
    out->set_threads(numbers.threads);
    out->set_nice(numbers.nice);
  } else {
    SetKey(subject.key, out);
    out->set_lock_model(std::string(Name(numbers.model)));
  }
  out->set_hold_tier(TierOr(numbers.hold_tier));
  out->set_wait_tier(TierOr(numbers.wait_tier));
  out->set_latency_tier(TierOr(numbers.latency_tier));
}

void SetHold(const RecordedHold& hold, v1::Report::LongHold* out) {
  out->mutable_subject()->set_kind("lock");
  SetKey(hold.key, out->mutable_subject());
  *out->mutable_hold() = ToProto(hold.hold);
  out->mutable_hold()->clear_cell();
  out->mutable_hold()->clear_acquired_offset_ns();
  out->set_window_end_unix_ns(hold.end_unix_ns);
}

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

void SetEnd(const RecordedRun& run, v1::Report::Run* out) {
  out->set_cut_short(run.CutShort());
  out->set_trouble(TroubleOf(run));
  if (!run.end.has_value()) return;
  out->set_exit_status(run.end->exit_status);
  out->set_signal(run.end->signal);
  out->set_error(run.end->error);
  for (const auto& [name, value] : run.end->result.facts) {
    (*out->mutable_facts())[name] = value;
  }
}

void SetBegin(const RunBegin& begin, v1::Report::Run* out) {
  out->set_id(begin.id);
  out->set_name(begin.name);
  out->set_variant(begin.variant);
  out->set_repetition(begin.repetition);
  for (const std::string& word : begin.command) out->add_command(word);
  for (const auto& [name, value] : begin.labels) {
    (*out->mutable_labels())[name] = value;
  }
  out->set_host_id(begin.host_id);
  *out->mutable_environment() = ToProto(begin.environment);
  out->set_begin_unix_ns(begin.begin_unix_ns);
}

void SetMeasuring(const RecordedRun& run, v1::Report::Run* out) {
  out->set_duration_seconds(Seconds(run.duration_ns()));
  out->set_measured_seconds(Seconds(run.measured_ns));
  out->set_windows(run.windows);
  out->set_missing_windows(run.missing_windows);
  *out->mutable_coverage() = ToProto(run.coverage);
  out->set_coverage_changed(run.coverage_changed);
  for (const auto& [reason, events] : run.losses) {
    (*out->mutable_losses())[std::string(Name(reason))] = events;
  }
  out->set_agent_cpu_ns(run.agent_cpu_ns);
  out->set_agent_rss_bytes(run.agent_rss_bytes);
  out->set_timing_shift(run.timing_shift);
  out->set_null_hold_ns(run.null_hold_ns);
}

void SetRun(const RecordedRun& run, size_t holds, v1::Report::Run* out) {
  SetBegin(run.begin, out);
  SetEnd(run, out);
  SetMeasuring(run, out);
  for (const Numbers& numbers : StatisticsOf(run)) {
    v1::Report::Numbers* to = out->add_numbers();
    SetSubject(numbers, to->mutable_subject());
    for (const auto& [name, value] : numbers.values) {
      (*to->mutable_values())[std::string(name)] = value;
    }
  }
  for (size_t i = 0; i < std::min(holds, run.longest.size()); ++i) {
    SetHold(run.longest[i], out->add_longest_holds());
  }
  for (const RecordedHold& hold : run.in_progress) {
    SetHold(hold, out->add_holds_in_progress());
  }
  for (const std::string& file : run.files) out->add_files(PlainText(file));
}

void SetGroup(const RunGroup& group, v1::Report::Group* out) {
  const RunBegin& begin = group.begin();
  out->set_name(begin.name);
  out->set_variant(begin.variant);
  out->set_kernel_release(begin.environment.kernel_release);
  out->set_runs(static_cast<uint32_t>(group.runs.size()));
  for (const GroupNumbers& numbers : StatisticsOf(group)) {
    v1::Report::GroupNumbers* to = out->add_numbers();
    SetSubject(numbers, to->mutable_subject());
    for (const auto& [name, values] : numbers.values) {
      const std::optional<Spread> spread = SpreadOf(values);
      if (!spread.has_value()) continue;
      v1::Report::Spread& said = (*to->mutable_values())[std::string(name)];
      said.set_median(spread->median);
      said.set_min(spread->min);
      said.set_max(spread->max);
      said.set_runs(static_cast<uint32_t>(spread->runs));
    }
  }
}

// With maps in the order of their keys: MessageToJsonString() has them in any.
absl::StatusOr<std::string> Json(const v1::Report& report) {
  namespace pb = google::protobuf;
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    report.SerializeToCodedStream(&coded);
  }
  constexpr char kPrefix[] = "type.googleapis.com";
  const std::unique_ptr<pb::util::TypeResolver> resolver(
      pb::util::NewTypeResolverForDescriptorPool(
          kPrefix, pb::DescriptorPool::generated_pool()));
  pb::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = true;
  // A count of 0 is a statement here.
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = pb::util::BinaryToJsonString(
      resolver.get(),
      absl::StrCat(kPrefix, "/", report.GetDescriptor()->full_name()), bytes,
      &json, options);
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat("write the report as JSON: ",
                                            std::string(status.message())));
  }
  return json;
}

std::string Field(absl::string_view text) {
  if (text.find_first_of(",\"\r\n") == absl::string_view::npos) {
    return std::string(text);
  }
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

absl::StatusOr<std::string> ReportJson(const Recordings& recordings,
                                       size_t holds) {
  v1::Report report;
  report.set_schema(1);
  report.set_swaplock_version(std::string(kVersion));
  for (const std::string& remark : recordings.remarks) {
    report.add_remarks(PlainText(remark));
  }
  for (const RecordedRun& run : recordings.runs) {
    SetRun(run, holds, report.add_runs());
  }
  for (const RunGroup& group : GroupsOf(recordings.runs)) {
    SetGroup(group, report.add_groups());
  }
  return Json(report);
}

std::string ReportCsv(const Recordings& recordings) {
  std::string text =
      "run,variant,repetition,kernel,host,kind,measurement,subsystem,"
      "operation,role,mode,device,algorithm,metric,unit,value\n";
  for (const RecordedRun& run : recordings.runs) {
    for (const Numbers& numbers : StatisticsOf(run)) {
      v1::Report::Subject subject;
      SetSubject(numbers, &subject);
      std::vector<std::string> fields;
      for (const std::string& field :
           {run.begin.name, run.begin.variant,
            absl::StrCat(run.begin.repetition),
            run.begin.environment.kernel_release, run.begin.host_id,
            subject.kind(), subject.measurement(), subject.subsystem(),
            subject.operation(), subject.role(), subject.mode(),
            subject.device(), subject.algorithm()}) {
        fields.push_back(Field(field));
      }
      const std::string prefix = absl::StrJoin(fields, ",");
      for (const Metric& metric : Metrics()) {
        const std::optional<double> value = numbers.Value(metric.name);
        if (!value.has_value()) continue;
        // Whole numbers up to 2^53 as they are.
        absl::StrAppend(&text, prefix, ",", metric.name, ",", Name(metric.unit),
                        ",", absl::StrFormat("%.17g", *value), "\n");
      }
    }
  }
  return text;
}

}  // namespace swaplock
