#include "cli/query/verdict_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/query/evidence_text.h"
#include "common/text_table.h"
#include "server/verdict/self_test_evidence.h"
#include "server/verdict/verdict_listing.h"
#include "server/verdict/verdict_words.h"

namespace swaplock {
namespace {

constexpr absl::string_view kIndent = "  ";

std::string KindText(const VerdictRecord& record) {
  return absl::AsciiStrToUpper(Name(record.kind));
}

// One word for what became of it.
std::string StateText(const StoredVerdict& verdict) {
  if (!verdict.went_away.empty()) return "went away";
  if (verdict.mark.state != VerdictState::kNew) {
    return std::string(Name(verdict.mark.state));
  }
  if (verdict.alerts) return "alerts";
  return verdict.silent_because.empty() ? "" : "silent";
}

void AddColumns(bool stored, TextTable* table) {
  if (stored) table->AddColumn("id", TextTable::Align::kRight);
  table->AddColumn("verdict", TextTable::Align::kLeft);
  table->AddColumn("operation", TextTable::Align::kLeft);
  table->AddColumn("outcome", TextTable::Align::kLeft);
  table->AddColumn("ratio (90 %)", TextTable::Align::kRight, 1);
  table->AddColumn("p adjusted", TextTable::Align::kRight, 2);
  table->AddColumn("hosts", TextTable::Align::kRight, 3);
  if (stored) table->AddColumn("state", TextTable::Align::kLeft);
}

std::vector<std::string> CellsOf(const VerdictRecord& r) {
  return {KindText(r),
          OperationText(r),
          std::string(ShortName(r.outcome)),
          EffectText(r.effect),
          PText(r.adjusted_p, r.p_exact),
          absl::StrCat(r.treated.hosts, "/", r.controls.hosts)};
}

std::string RowsOf(const PairListing& listing, size_t max_width) {
  TextTable table;
  AddColumns(/*stored=*/true, &table);
  for (const StoredVerdict* verdict : listing.verdicts) {
    std::vector<std::string> row = CellsOf(verdict->record);
    row.insert(row.begin(), absl::StrCat(verdict->id));
    row.push_back(StateText(*verdict));
    table.AddRow(row);
  }
  return table.Render(kIndent, max_width);
}

std::string Heading(const PairListing& listing, size_t max_width) {
  std::string text = KernelsText(listing.pair.base, listing.pair.newer);
  if (listing.incident != nullptr) {
    absl::StrAppend(&text, ": incident ", listing.incident->id, ", open since ",
                    DayText(listing.incident->opened));
  }
  text = Wrapped(Printable(text), "", kIndent, max_width);
  if (listing.judged == nullptr) return text;
  const JudgedPair& judged = *listing.judged;
  std::string hosts =
      absl::StrCat(judged.hosts_upgraded, " hosts upgraded, ",
                   judged.hosts_waiting, " of them still watched, ",
                   judged.controls, " not; up to ", DayText(judged.last_day));
  if (!judged.chosen_because.empty()) {
    absl::StrAppend(&hosts, "; ", judged.chosen_because);
  }
  return absl::StrCat(text,
                      Wrapped(Printable(hosts), kIndent, kIndent, max_width));
}

std::string PairText(const PairListing& listing, size_t max_width) {
  std::string text = Heading(listing, max_width);
  const std::string& sentence = listing.verdicts[0]->record.sentence;
  if (!sentence.empty()) {
    absl::StrAppend(&text,
                    Wrapped(Printable(sentence), kIndent, kIndent, max_width));
  }
  absl::StrAppend(&text, RowsOf(listing, max_width));
  if (listing.judged == nullptr) return text;
  for (const Holdback& holdback : listing.judged->holdback) {
    if (holdback.advice.empty()) continue;
    const std::string advice =
        holdback.stratum.empty()
            ? holdback.advice
            : absl::StrCat(holdback.stratum, ": ", holdback.advice);
    absl::StrAppend(&text,
                    Wrapped(Printable(advice), kIndent, kIndent, max_width));
  }
  return text;
}

std::string SelfTestText(const SelfTestReport& report,
                         const VerdictTextOptions& options) {
  const std::optional<EvidenceTable> table =
      options.self_test ? SelfTestTable(report) : std::nullopt;
  std::string text = Wrapped(Printable(SelfTestSentence(report)), "", kIndent,
                             options.max_width);
  if (table.has_value()) {
    absl::StrAppend(&text, "\n", EvidenceText(*table, options.max_width));
  }
  return text;
}

}  // namespace

std::string VerdictsText(const VerdictBook& book,
                         const VerdictTextOptions& options) {
  std::string text;
  if (book.verdicts.empty()) {
    text = options.chosen ? "No verdict is like that.\n" : "No verdicts yet.\n";
  }
  if (!book.remark.empty()) {
    absl::StrAppend(&text,
                    Wrapped(Printable(book.remark), "", "", options.max_width));
  }
  if (!text.empty()) absl::StrAppend(&text, "\n");
  for (const PairListing& listing : ListByPair(book)) {
    absl::StrAppend(&text, PairText(listing, options.max_width), "\n");
  }
  absl::StrAppend(&text, SelfTestText(book.self_test, options));
  if (!book.verdicts.empty()) {
    absl::StrAppend(&text, "What one rests on: swaplock explain ID\n");
  }
  return text;
}

std::string ComparisonText(const PairComparison& comparison,
                           const VerdictTextOptions& options) {
  std::vector<const VerdictRecord*> records;
  for (const VerdictRecord& record : comparison.verdicts) {
    records.push_back(&record);
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const VerdictRecord* a, const VerdictRecord* b) {
                     return ComesFirst(*a, *b);
                   });
  const KernelPair& pair = comparison.pair;
  const std::string hosts =
      pair.base == pair.newer
          ? absl::StrCat(comparison.controls, " hosts")
          : absl::StrCat(comparison.hosts_upgraded, " hosts upgraded, ",
                         comparison.hosts_waiting, " of them still watched, ",
                         comparison.controls, " not");
  std::string text =
      Wrapped(Printable(absl::StrCat(KernelsText(pair.base, pair.newer), ": ",
                                     hosts, "; ", DayText(comparison.first_day),
                                     " to ", DayText(comparison.last_day))),
              "", kIndent, options.max_width);
  if (!comparison.remark.empty()) {
    absl::StrAppend(&text, Wrapped(Printable(comparison.remark), kIndent,
                                   kIndent, options.max_width));
  }
  if (records.empty()) return text;
  absl::StrAppend(&text, Wrapped(Printable(records[0]->sentence), kIndent,
                                 kIndent, options.max_width));
  TextTable table;
  AddColumns(/*stored=*/false, &table);
  for (const VerdictRecord* record : records) table.AddRow(CellsOf(*record));
  return absl::StrCat(text, table.Render(kIndent, options.max_width));
}

}  // namespace swaplock
