#include "cli/query/verdict_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/text_table.h"
#include "common/window.h"

namespace swaplock {
namespace {

std::string KindName(v1::VerdictKind kind) {
  const std::string& name = v1::VerdictKind_Name(kind);
  return name.empty() ? absl::StrCat("kind ", static_cast<int>(kind))
                      : std::string(absl::StripPrefix(name, "VERDICT_KIND_"));
}

std::string PValue(const v1::Verdict& verdict) {
  // A p is never 0; a server that made no test leaves it so or says NaN.
  if (std::isnan(verdict.p_value()) || verdict.p_value() <= 0) return "-";
  return absl::StrFormat("%s%.2g", verdict.p_exact() ? "" : "~",
                         verdict.p_value());
}

std::string Ratio(const v1::Verdict& verdict) {
  if (std::isnan(verdict.ratio()) || verdict.ratio() <= 0) return "-";
  return absl::StrFormat("%.2f (%.2f to %.2f)", verdict.ratio(),
                         verdict.ratio_lower(), verdict.ratio_upper());
}

}  // namespace

std::string VerdictsText(const v1::VerdictList& verdicts) {
  if (verdicts.verdicts_size() == 0) {
    return "no verdicts yet\n";
  }
  TextTable table;
  table.AddColumn("verdict", TextTable::Align::kLeft);
  table.AddColumn("kernels", TextTable::Align::kLeft);
  table.AddColumn("lock", TextTable::Align::kLeft);
  table.AddColumn("outcome", TextTable::Align::kLeft);
  table.AddColumn("hosts", TextTable::Align::kRight);
  table.AddColumn("ratio", TextTable::Align::kRight);
  table.AddColumn("p", TextTable::Align::kRight);
  std::string sentences;
  for (const v1::Verdict& verdict : verdicts.verdicts()) {
    table.AddRow(
        {KindName(verdict.kind()),
         absl::StrCat(verdict.kernel_base(), " -> ", verdict.kernel_new()),
         absl::StrCat(Name(static_cast<Subsystem>(verdict.subsystem())), " ",
                      Name(static_cast<Operation>(verdict.operation()))),
         verdict.outcome(),
         absl::StrCat(verdict.hosts_base(), " and ", verdict.hosts_new()),
         Ratio(verdict), PValue(verdict)});
    if (verdict.sentence().empty()) continue;
    absl::StrAppend(&sentences, Printable(verdict.sentence()));
    if (!verdict.reason().empty()) {
      absl::StrAppend(&sentences, " (", Printable(verdict.reason()), ")");
    }
    absl::StrAppend(&sentences, "\n");
  }
  if (!sentences.empty()) sentences.insert(0, "\n");
  return absl::StrCat(table.Render(), sentences);
}

}  // namespace swaplock
