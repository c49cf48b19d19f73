#include "cli/compare/comparison_export.h"

#include <google/protobuf/util/json_util.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "cli/report/printed_number.h"
#include "common/plain_text.h"
#include "proto/comparison.pb.h"

namespace swaplock {
namespace {

absl::string_view UnitName(const Outcome& outcome) {
  return outcome.metric == kOver10Ms ? "per_million" : Name(outcome.unit);
}

absl::string_view WantedName(Wanted wanted) {
  switch (wanted) {
    case Wanted::kLess:
      return "less";
    case Wanted::kMore:
      return "more";
    case Wanted::kNeither:
      return "neither";
  }
  return "";
}

absl::string_view FindingName(const ComparedOutcome& row) {
  const int verdict = row.Verdict();
  return verdict > 0 ? "worse" : verdict < 0 ? "better" : "";
}

std::optional<double> Median(const std::vector<double>& values) {
  const std::optional<Spread> spread = SpreadOf(values);
  if (!spread.has_value()) return std::nullopt;
  return spread->median;
}

v1::ComparedOutcome ToProto(const ComparedOutcome& row) {
  v1::ComparedOutcome out;
  out.set_metric(std::string(row.outcome.metric));
  out.set_title(std::string(row.outcome.title));
  out.set_unit(std::string(UnitName(row.outcome)));
  out.set_wanted(std::string(WantedName(row.outcome.wanted)));
  for (const double value : row.base) out.add_base(value);
  for (const double value : row.newer) out.add_newer(value);
  if (const auto median = Median(row.base)) out.set_base_median(*median);
  if (const auto median = Median(row.newer)) out.set_new_median(*median);
  const Judgement& judgement = row.judgement;
  if (judgement.ratio.has_value()) out.set_ratio(*judgement.ratio);
  if (judgement.p.has_value()) {
    out.set_p(*judgement.p);
    out.set_p_exact(judgement.exact);
    out.set_p_adjusted(judgement.p_adjusted);
    out.set_p_margin(judgement.p_margin);
  }
  if (judgement.detectable.has_value()) {
    out.set_detectable(*judgement.detectable);
  }
  out.set_judged(row.judged);
  out.set_finding(std::string(FindingName(row)));
  out.set_untested(PlainText(row.untested));
  return out;
}

void AddSettings(const std::vector<Setting>& settings,
                 google::protobuf::RepeatedPtrField<v1::ComparedSetting>* to) {
  for (const Setting& setting : settings) {
    v1::ComparedSetting* out = to->Add();
    out->set_name(PlainText(setting.name));
    out->set_base(PlainText(setting.base));
    out->set_newer(PlainText(setting.newer));
  }
}

v1::Comparison ToProto(const Comparison& comparison) {
  v1::Comparison out;
  out.set_name(PlainText(comparison.name));
  out.set_finding(std::string(Name(comparison.finding)));
  out.set_sentence(PlainText(comparison.sentence));
  out.set_cause(PlainText(comparison.cause));
  out.set_forced(comparison.forced);
  out.set_base_title(PlainText(comparison.base_title));
  out.set_new_title(PlainText(comparison.new_title));
  out.set_base_runs(comparison.base_runs);
  out.set_new_runs(comparison.new_runs);
  out.set_base_run_ns(comparison.base_ns);
  out.set_new_run_ns(comparison.new_ns);
  AddSettings(comparison.grounds.settings, out.mutable_settings());
  AddSettings(comparison.grounds.workload, out.mutable_workload());
  AddSettings(comparison.grounds.changed_too, out.mutable_changed_too());
  for (const std::string& refusal : comparison.grounds.refusals) {
    out.add_refusals(PlainText(refusal));
  }
  for (const std::string& remark : comparison.remarks) {
    out.add_remarks(PlainText(remark));
  }
  for (const ComparedSubject& subject : comparison.subjects) {
    v1::ComparedSubject* to = out.add_subjects();
    to->set_kind(std::string(Name(subject.subject.kind)));
    to->set_name(PlainText(SubjectName(subject.subject)));
    to->set_detail(PlainText(subject.detail));
    for (const std::string& note : subject.notes) {
      to->add_notes(PlainText(note));
    }
    for (const ComparedOutcome& row : subject.outcomes) {
      *to->add_outcomes() = ToProto(row);
    }
  }
  return out;
}

std::string Quoted(absl::string_view text) {
  std::string plain = PlainText(text);
  if (plain.find_first_of(",\"") == std::string::npos) return plain;
  return absl::StrCat("\"", absl::StrReplaceAll(plain, {{"\"", "\"\""}}), "\"");
}

std::string Number(std::optional<double> value) {
  return value.has_value() ? absl::StrFormat("%.15g", *value) : "";
}

std::vector<std::string> SideFields(const std::vector<double>& values) {
  const std::optional<Spread> spread = SpreadOf(values);
  if (!spread.has_value()) return {"0", "", "", ""};
  return {absl::StrCat(spread->runs), Number(spread->median),
          Number(spread->min), Number(spread->max)};
}

std::string CsvLine(const Comparison& comparison,
                    const ComparedSubject& subject,
                    const ComparedOutcome& row) {
  const Judgement& judgement = row.judgement;
  std::vector<std::string> fields = {
      Quoted(comparison.name),
      std::string(Name(comparison.finding)),
      std::string(Name(subject.subject.kind)),
      Quoted(SubjectName(subject.subject)),
      std::string(row.outcome.metric),
      std::string(UnitName(row.outcome)),
  };
  for (const auto* values : {&row.base, &row.newer}) {
    for (std::string& field : SideFields(*values)) {
      fields.push_back(std::move(field));
    }
  }
  const bool tested = judgement.p.has_value();
  fields.push_back(Number(judgement.ratio));
  fields.push_back(Number(judgement.p));
  fields.push_back(tested ? Number(judgement.p_adjusted) : "");
  fields.push_back(Number(judgement.detectable));
  fields.push_back(row.judged ? "yes" : "no");
  fields.push_back(std::string(FindingName(row)));
  fields.push_back(Quoted(row.untested));
  return absl::StrCat(absl::StrJoin(fields, ","), "\n");
}

}  // namespace

absl::StatusOr<std::string> ComparisonsJson(
    absl::Span<const Comparison> comparisons,
    const std::vector<std::string>& remarks) {
  v1::ComparisonList list;
  for (const Comparison& comparison : comparisons) {
    *list.add_comparisons() = ToProto(comparison);
  }
  for (const std::string& remark : remarks) {
    list.add_remarks(PlainText(remark));
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(list, &json, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("write JSON: ", std::string(status.message())));
  }
  return absl::StrCat(json, "\n");
}

std::string ComparisonsCsv(absl::Span<const Comparison> comparisons) {
  std::string text =
      "run,finding,kind,subject,metric,unit,base_runs,base_median,base_min,"
      "base_max,new_runs,new_median,new_min,new_max,ratio,p,p_adjusted,"
      "detectable,judged,outcome_finding,untested\n";
  for (const Comparison& comparison : comparisons) {
    for (const ComparedSubject& subject : comparison.subjects) {
      for (const ComparedOutcome& row : subject.outcomes) {
        absl::StrAppend(&text, CsvLine(comparison, subject, row));
      }
    }
  }
  return text;
}

}  // namespace swaplock
