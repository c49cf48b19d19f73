#include "cli/query/explanation_text.h"

#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/query/evidence_text.h"
#include "common/text_table.h"
#include "common/window_table.h"
#include "server/verdict/self_test_evidence.h"
#include "server/verdict/verdict_book_message.h"
#include "server/verdict/verdict_words.h"

namespace swaplock {
namespace {

constexpr absl::string_view kIndent = "  ";

// The sentence has the reason already, unless the server is of another mind.
std::string Head(const StoredVerdict& verdict, size_t max_width) {
  const VerdictRecord& r = verdict.record;
  std::string text = Wrapped(Printable(r.sentence), "", "", max_width);
  if (!r.reason.empty() && !absl::StrContains(r.sentence, r.reason)) {
    absl::StrAppend(&text, Wrapped(Printable(r.reason), "", "", max_width));
  }
  if (!verdict.went_away.empty()) {
    absl::StrAppend(&text,
                    Wrapped(Printable(verdict.went_away), "", "", max_width));
  }
  for (const std::string& finding : r.findings) {
    absl::StrAppend(&text,
                    Wrapped(Printable(finding), "- ", kIndent, max_width));
  }
  std::string status = absl::StrCat("verdict ", verdict.id, ": ",
                                    absl::AsciiStrToUpper(Name(r.kind)), ", ",
                                    AlertText(verdict));
  if (verdict.mark.state != VerdictState::kNew) {
    absl::StrAppend(&status, "; ", MarkText(verdict.mark));
  }
  return absl::StrCat(text, "\n",
                      Wrapped(Printable(status), "", "", max_width));
}

std::string HoldsText(const v1::VerdictExplanation& said, size_t max_width) {
  std::vector<Hold> holds;
  std::vector<Cell> cells;
  std::vector<std::string> origins;
  for (const v1::TopHold& top : said.exemplars()) {
    v1::Hold message = top.hold();
    message.set_cell(static_cast<uint32_t>(cells.size()));
    v1::Cell cell_message;
    *cell_message.mutable_key() = top.key();
    absl::StatusOr<Cell> cell = FromProto(cell_message);
    absl::StatusOr<Hold> hold = FromProto(message);
    if (!cell.ok() || !hold.ok()) continue;
    // The parts are those of a hold that was seen whole.
    cell->hold_tier = Tier::kExact;
    cells.push_back(*std::move(cell));
    holds.push_back(*std::move(hold));
    origins.push_back(absl::StrCat(top.host_id(), " ", top.kernel_release()));
  }
  if (holds.empty()) {
    return Wrapped("Holds of either kernel: none of the last 24 hours is kept.",
                   "", kIndent, max_width);
  }
  std::string text =
      absl::StrCat("Longest holds of the last 24 hours\n",
                   HoldTable(holds, cells, kIndent, origins, max_width));
  const std::string why = HoldExplanation(holds[0], "    ", max_width);
  if (!why.empty()) {
    absl::StrAppend(&text, kIndent, "the first, ",
                    Printable(HolderName(holds[0])), "\n", why);
  }
  return text;
}

absl::StatusOr<std::string> HistoryText(const v1::VerdictExplanation& said,
                                        size_t max_width) {
  TextTable table;
  table.AddColumn("version", TextTable::Align::kRight);
  table.AddColumn("judged", TextTable::Align::kLeft);
  table.AddColumn("verdict", TextTable::Align::kLeft);
  table.AddColumn("ratio (90 %)", TextTable::Align::kRight);
  table.AddColumn("p adjusted", TextTable::Align::kRight, 1);
  table.AddColumn("rows up to", TextTable::Align::kLeft, 2);
  for (const v1::StoredVerdict& message : said.history()) {
    const absl::StatusOr<StoredVerdict> v = FromProto(message);
    if (!v.ok()) return v.status();
    table.AddRow(
        {absl::StrCat(v->version), DayText(v->judged),
         std::string(Name(v->record.kind)), EffectText(v->record.effect),
         PText(v->record.adjusted_p, v->record.p_exact), DayText(v->last_day)});
  }
  return absl::StrCat("Versions\n", table.Render(kIndent, max_width));
}

}  // namespace

absl::StatusOr<std::string> ExplanationText(const v1::VerdictExplanation& said,
                                            size_t max_width) {
  const absl::StatusOr<StoredVerdict> verdict = FromProto(said.verdict());
  if (!verdict.ok()) return verdict.status();
  std::string text = Head(*verdict, max_width);
  for (const EvidenceTable& table : EvidenceOf(*verdict)) {
    absl::StrAppend(&text, "\n", EvidenceText(table, max_width));
  }
  absl::StrAppend(&text, "\n", HoldsText(said, max_width));
  if (said.has_pair()) {
    const std::optional<EvidenceTable> holdback =
        HoldbackTable(FromProto(said.pair()));
    if (holdback.has_value()) {
      absl::StrAppend(&text, "\n", EvidenceText(*holdback, max_width));
    }
  }
  if (said.history_size() > 0) {
    const absl::StatusOr<std::string> history = HistoryText(said, max_width);
    if (!history.ok()) return history.status();
    absl::StrAppend(&text, "\n", *history);
  }
  return text;
}

}  // namespace swaplock
