#include "cli/query/verdict_export.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/plain_text.h"
#include "server/verdict/verdict_listing.h"

namespace swaplock {
namespace {

constexpr char kRecordNames[] =
    "kernel_base,kernel_new,subsystem,operation,outcome,verdict,ratio,lower,"
    "upper,p_worse,p_better,p_adjusted,p_exact,detectable,hosts_upgraded,"
    "hosts_not_upgraded,hosts_needed,design,sentence,reason";
constexpr char kStoredNames[] =
    "id,version,state,alerts,incident,by,first_day,last_day,";

std::string Quoted(absl::string_view text) {
  std::string plain = PlainText(text);
  if (plain.find_first_of(",\"") == std::string::npos) return plain;
  return absl::StrCat("\"", absl::StrReplaceAll(plain, {{"\"", "\"\""}}), "\"");
}

std::string Number(double value) {
  return std::isnan(value) ? "" : absl::StrFormat("%.15g", value);
}

std::string FieldsOf(const VerdictRecord& r) {
  return absl::StrJoin(
      std::vector<std::string>{
          Quoted(r.kernel_base),
          Quoted(r.kernel_new),
          std::string(Name(r.subsystem)),
          std::string(Name(r.operation)),
          std::string(Name(r.outcome)),
          std::string(Name(r.kind)),
          Number(r.effect.ratio),
          Number(r.effect.lower),
          Number(r.effect.upper),
          Number(r.p_worse),
          Number(r.p_better),
          Number(r.adjusted_p),
          r.p_exact ? "yes" : "no",
          Number(r.detectable_ratio),
          absl::StrCat(r.treated.hosts),
          absl::StrCat(r.controls.hosts),
          r.hosts_needed == 0 ? "" : absl::StrCat(r.hosts_needed),
          std::string(Name(r.design)),
          Quoted(r.sentence),
          Quoted(r.reason)},
      ",");
}

std::string FieldsOf(const StoredVerdict& v) {
  return absl::StrJoin(
      std::vector<std::string>{
          absl::StrCat(v.id), absl::StrCat(v.version),
          v.went_away.empty() ? std::string(Name(v.mark.state)) : "went away",
          v.alerts ? "yes" : "no",
          v.incident == 0 ? "" : absl::StrCat(v.incident), Quoted(v.mark.by),
          absl::StrCat(v.first_day), absl::StrCat(v.last_day),
          FieldsOf(v.record)},
      ",");
}

}  // namespace

std::string VerdictsCsv(const VerdictBook& book) {
  std::string text = absl::StrCat(kStoredNames, kRecordNames, "\n");
  for (const PairListing& listing : ListByPair(book)) {
    for (const StoredVerdict* verdict : listing.verdicts) {
      absl::StrAppend(&text, FieldsOf(*verdict), "\n");
    }
  }
  return text;
}

std::string ComparisonCsv(const PairComparison& comparison) {
  std::string text = absl::StrCat(kRecordNames, "\n");
  for (const VerdictRecord& record : comparison.verdicts) {
    absl::StrAppend(&text, FieldsOf(record), "\n");
  }
  return text;
}

}  // namespace swaplock
