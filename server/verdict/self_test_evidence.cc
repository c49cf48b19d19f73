#include "server/verdict/self_test_evidence.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/verdict/verdict_words.h"

namespace swaplock {
namespace {

constexpr char kNone[] = "-";

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? kNoNumber
                    : static_cast<double>(part) / static_cast<double>(whole);
}

std::string ShareText(const SelfTestResult& result) {
  if (result.splits == 0) return kNone;
  return absl::StrFormat("%.3f (%.3f to %.3f)",
                         Share(result.rejected, result.splits),
                         result.share.lower, result.share.upper);
}

const SelfTestResult* Same(const std::vector<SelfTestResult>& results,
                           const SelfTestResult& as) {
  const auto it = std::find_if(
      results.begin(), results.end(), [&](const SelfTestResult& result) {
        return result.operation == as.operation && result.outcome == as.outcome;
      });
  return it == results.end() ? nullptr : &*it;
}

}  // namespace

bool WasMade(const SelfTestReport& report) {
  return report.made > absl::UnixEpoch() && report.missing.empty();
}

std::optional<EvidenceTable> SelfTestTable(const SelfTestReport& report) {
  EvidenceTable table = {"Self-test",
                         {{"operation"},
                          {"outcome"},
                          {"splits", true},
                          {"false alarms, nominal 0.05", true},
                          {"flagged", true},
                          {"found", true},
                          {"alerts"}},
                         {},
                         {}};
  table.columns[5].title = absl::StrFormat("found at %.3g", report.spike);
  for (const SelfTestResult& result : report.false_alarms) {
    const SelfTestResult* power = Same(report.power, result);
    table.rows.push_back({absl::StrCat(Name(result.operation.first), " ",
                                       Name(result.operation.second)),
                          std::string(ShortName(result.outcome)),
                          absl::StrCat(result.splits), ShareText(result),
                          absl::StrCat(result.flagged),
                          power == nullptr ? kNone : ShareText(*power),
                          result.broken ? "no: above twice nominal" : "yes"});
  }
  if (table.rows.empty()) return std::nullopt;
  return table;
}

std::string SelfTestSentence(const SelfTestReport& report) {
  if (report.made <= absl::UnixEpoch()) {
    return report.missing.empty()
               ? "No self-test was made yet."
               : absl::StrCat("No self-test: ", report.missing, ".");
  }
  if (!report.missing.empty()) {
    return absl::StrCat("Self-test of ", DayText(report.made),
                        " was not made: ", report.missing, ".");
  }
  uint64_t splits = 0;
  uint64_t rejected = 0;
  uint64_t broken = 0;
  for (const SelfTestResult& result : report.false_alarms) {
    splits += result.splits;
    rejected += result.rejected;
    broken += result.broken;
  }
  return absl::StrFormat(
      "Self-test of %s on %d hosts that kept %s: false alarms %s at a nominal "
      "0.05; %s.",
      DayText(report.made), report.hosts, report.kernel_release,
      splits == 0 ? kNone : absl::StrFormat("%.3f", Share(rejected, splits)),
      broken == 0 ? "every outcome may alert"
                  : absl::StrCat(broken, " of ", report.false_alarms.size(),
                                 " outcomes are above twice that and do not "
                                 "alert"));
}

std::optional<EvidenceTable> HoldbackTable(const JudgedPair& pair) {
  EvidenceTable table = {"Hosts to keep on the base build",
                         {{"hosts that are alike"},
                          {"upgraded", true},
                          {"not upgraded", true},
                          {"without partner", true},
                          {"keep", true},
                          {"advice"}},
                         {},
                         {}};
  for (const Holdback& h : pair.holdback) {
    table.rows.push_back({h.stratum.empty() ? "all" : h.stratum,
                          absl::StrCat(h.treated), absl::StrCat(h.controls),
                          absl::StrCat(h.unpaired), absl::StrCat(h.keep),
                          h.advice});
  }
  if (table.rows.empty()) return std::nullopt;
  return table;
}

}  // namespace swaplock
