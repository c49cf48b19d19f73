#include "server/web/verdict_pages.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text_table.h"
#include "common/window_table.h"
#include "server/fleet/exemplar_holds.h"
#include "server/verdict/self_test_evidence.h"
#include "server/verdict/verdict_evidence.h"
#include "server/verdict/verdict_listing.h"
#include "server/verdict/verdict_words.h"
#include "server/web/chart.h"
#include "server/web/hold_link.h"
#include "server/web/html.h"

namespace swaplock {
namespace {

// More than a screen shows.
constexpr size_t kMostIntervals = 40;

// A rule of a table keeps to one line; a sentence takes several.
std::string Paragraph(absl::string_view text) {
  return text.empty() ? "" : absl::StrCat("<p>", EscapeHtml(text), "</p>\n");
}

std::string Html(const EvidenceTable& evidence) {
  HtmlTable table = {evidence.title, {}, {}};
  for (const EvidenceColumn& column : evidence.columns) {
    table.columns.push_back(column.title);
  }
  for (const std::vector<std::string>& row : evidence.rows) {
    table.rows.emplace_back(row.begin(), row.end());
  }
  std::string out =
      evidence.rows.empty()
          ? absl::StrCat("<h2>", EscapeHtml(evidence.title), "</h2>\n")
          : Html(table);
  for (const std::string& note : evidence.notes) {
    absl::StrAppend(&out, Paragraph(note));
  }
  return out;
}

std::string StateText(const StoredVerdict& verdict) {
  if (!verdict.went_away.empty()) return "went away";
  if (verdict.mark.state != VerdictState::kNew) return MarkText(verdict.mark);
  return AlertText(verdict);
}

HtmlCell Linked(std::string text, std::string link) {
  HtmlCell cell(std::move(text));
  cell.link = std::move(link);
  return cell;
}

std::string PairHtml(const PairListing& listing) {
  HtmlTable table = {
      KernelsText(listing.pair.base, listing.pair.newer),
      {"verdict", "in words", "operation", "outcome", "ratio (90 % interval)",
       "p, adjusted", "upgraded, not", "state"},
      {}};
  if (listing.incident != nullptr) {
    absl::StrAppend(&table.title, ": incident ", listing.incident->id,
                    ", open since ", DayText(listing.incident->opened));
  }
  for (const StoredVerdict* verdict : listing.verdicts) {
    const VerdictRecord& r = verdict->record;
    table.rows.push_back({Linked(absl::StrCat(verdict->id, " ", Name(r.kind)),
                                 VerdictLink(verdict->id)),
                          r.sentence, OperationText(r),
                          std::string(ShortName(r.outcome)),
                          EffectText(r.effect), PText(r.adjusted_p, r.p_exact),
                          absl::StrCat(r.treated.hosts, ", ", r.controls.hosts),
                          StateText(*verdict)});
  }
  std::string out = Html(table);
  if (listing.judged == nullptr) return out;
  const JudgedPair& judged = *listing.judged;
  absl::StrAppend(
      &out,
      Paragraph(absl::StrCat(
          judged.hosts_upgraded, " hosts upgraded, ", judged.hosts_waiting,
          " of them still watched, ", judged.controls, " not; up to ",
          DayText(judged.last_day), judged.chosen_because.empty() ? "" : "; ",
          judged.chosen_because, ".")));
  return out;
}

std::string HoldsHtml(const FleetSnapshot& snapshot,
                      const VerdictRecord& record, absl::Time now) {
  HtmlTable table = {"Longest holds of the last 24 hours",
                     {"hold", "on CPU", "runnable off CPU", "blocked", "lock",
                      "host", "kernel", "holder, and why"},
                     {},
                     "None of either kernel is kept."};
  for (const TopHold* top : ExemplarHolds(snapshot.state, now, record)) {
    const Hold& hold = top->hold;
    HtmlCell holder = HolderName(hold);
    holder.details = HoldExplanation(hold, "");
    table.rows.push_back({Linked(FormatNs(hold.hold_ns), HoldLink(*top)),
                          FormatNs(hold.on_cpu_ns), FormatNs(hold.runnable_ns),
                          FormatNs(hold.blocked_ns), LockName(top->key),
                          Linked(top->host_id, HostLink(top->host_id)),
                          top->kernel_release, std::move(holder)});
  }
  return Html(table);
}

// The ratios of verdicts that rest on a test, with their intervals.
std::string IntervalsChart(const VerdictBook& book) {
  nlohmann::json data = nlohmann::json::array();
  for (const PairListing& listing : ListByPair(book)) {
    for (const StoredVerdict* verdict : listing.verdicts) {
      const VerdictRecord& r = verdict->record;
      const Effect& effect = r.effect;
      // A ratio from or to nothing has no place on a logarithmic axis.
      if (!(effect.ratio > 0) || !std::isfinite(effect.ratio) ||
          !(effect.lower > 0)) {
        continue;
      }
      if (data.size() == kMostIntervals) break;
      nlohmann::json upper = nullptr;
      if (std::isfinite(effect.upper)) upper = effect.upper;
      data.push_back(
          {{"label",
            absl::StrCat(OperationText(r), ", ", ShortName(r.outcome), ", ",
                         listing.pair.base, " -> ", listing.pair.newer)},
           {"verdict", std::string(Name(r.kind))},
           {"ratio", effect.ratio},
           {"lower", effect.lower},
           {"upper", upper},
           {"link", VerdictLink(verdict->id)}});
    }
  }
  return Chart("intervals",
               "New kernel over base, with 90 % intervals; the band is no "
               "material difference",
               data);
}

std::string HeadOf(const StoredVerdict& verdict) {
  const VerdictRecord& r = verdict.record;
  std::string out =
      absl::StrCat("<p><strong>", EscapeHtml(r.sentence), "</strong></p>\n");
  if (!absl::StrContains(r.sentence, r.reason)) {
    absl::StrAppend(&out, Paragraph(r.reason));
  }
  absl::StrAppend(&out, Paragraph(verdict.went_away));
  for (const std::string& finding : r.findings) {
    absl::StrAppend(&out, Paragraph(finding));
  }
  return out;
}

}  // namespace

std::string VerdictLink(uint64_t id) {
  return absl::StrCat("/verdict?id=", id);
}

std::string VerdictsHtml(const VerdictBook& book) {
  std::string out = Paragraph(book.remark);
  for (const PairListing& listing : ListByPair(book)) {
    absl::StrAppend(&out, PairHtml(listing));
  }
  if (book.verdicts.empty()) {
    absl::StrAppend(&out, "<h2>Verdicts</h2>\n<p>None yet.</p>\n");
  }
  return out;
}

std::string RenderVerdictsPage(const VerdictBook& book, absl::Time /*now*/) {
  std::string out =
      absl::StrCat(HtmlHead("Verdicts", "/verdicts"),
                   "<p>The worst first; <a href=\"/api/v1/verdicts\">as "
                   "JSON</a>. To say that somebody looks after one: "
                   "<code>swaplock verdicts acknowledge ID</code>.</p>\n",
                   IntervalsChart(book), VerdictsHtml(book));
  for (const JudgedPair& pair : book.pairs) {
    std::optional<EvidenceTable> holdback = HoldbackTable(pair);
    if (!holdback.has_value()) continue;
    absl::StrAppend(&holdback->title, ", ", pair.pair.base, " -> ",
                    pair.pair.newer);
    absl::StrAppend(&out, Html(*holdback));
  }
  const std::optional<EvidenceTable> self_test = SelfTestTable(book.self_test);
  absl::StrAppend(
      &out, self_test.has_value() ? Html(*self_test) : "<h2>Self-test</h2>\n",
      Paragraph(SelfTestSentence(book.self_test)), HtmlEnd());
  return out;
}

std::string RenderVerdictPage(const VerdictBook& book,
                              const FleetSnapshot& snapshot,
                              absl::string_view id, absl::Time now) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(id, &number)) return "";
  const StoredVerdict* verdict = FindVerdict(book, number);
  if (verdict == nullptr) return "";
  const VerdictRecord& r = verdict->record;
  std::string out = absl::StrCat(
      HtmlHead(absl::StrCat("Verdict ", number, ": ", Name(r.kind), ", ",
                            OperationText(r)),
               "/verdicts"),
      "<p><a href=\"/verdicts\">All verdicts</a>.</p>\n", HeadOf(*verdict));
  for (const EvidenceTable& table : EvidenceOf(*verdict)) {
    absl::StrAppend(&out, Html(table));
  }
  return absl::StrCat(out, HoldsHtml(snapshot, r, now), HtmlEnd());
}

}  // namespace swaplock
