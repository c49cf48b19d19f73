#include "cli/compare/comparison_loss.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/report/recorded_run.h"

namespace swaplock {
namespace {

constexpr double kMostLost = 0.01;
constexpr double kMostDifference = 0.001;

// A long hold that is not listed is in the counts nevertheless.
bool IsMissingFromCounts(LossReason reason) {
  return reason != LossReason::kTopRingFull &&
         reason != LossReason::kUnspecified;
}

double LostShare(const Runs& runs) {
  uint64_t lost = 0;
  uint64_t counted = 0;
  for (const RecordedRun* run : runs) {
    for (const auto& [reason, events] : run->losses) {
      if (IsMissingFromCounts(reason)) lost += events;
    }
    for (const auto& [key, cell] : run->cells) {
      counted += cell.acquisitions > 0 ? cell.acquisitions : cell.contended;
    }
  }
  if (lost == 0) return 0;
  return static_cast<double>(lost) / static_cast<double>(lost + counted);
}

}  // namespace

Losses LossesOf(const Runs& base, const Runs& newer) {
  Losses out;
  const double from = LostShare(base);
  const double to = LostShare(newer);
  if (from > kMostLost || to > kMostLost ||
      std::abs(from - to) > kMostDifference) {
    out.untested = absl::StrFormat(
        "%.2g%% of the base and %.2g%% of the new acquisitions were lost",
        100 * from, 100 * to);
  }
  std::set<uint32_t> shifts;
  uint64_t missing = 0;
  std::vector<std::string> changed;
  for (const Runs* runs : {&base, &newer}) {
    for (const RecordedRun* run : *runs) {
      if (run->windows > 0) shifts.insert(run->timing_shift);
      missing += run->missing_windows;
      if (run->coverage_changed) changed.push_back(RunTitle(*run));
    }
  }
  if (shifts.size() > 1) {
    out.holds_untested =
        absl::StrCat("holds were timed in different shares, from 1 in ",
                     uint64_t{1} << *shifts.begin(), " to 1 in ",
                     uint64_t{1} << *shifts.rbegin());
  } else if (shifts.size() == 1 && *shifts.begin() > 0) {
    out.remarks.push_back(
        absl::StrCat("one hold in ", uint64_t{1} << *shifts.begin(),
                     " was timed, at random: hold totals and counts are of "
                     "those"));
  }
  if (missing > 0) {
    out.remarks.push_back(absl::StrCat(missing, " windows are missing"));
  }
  for (const std::string& title : changed) {
    out.remarks.push_back(
        absl::StrCat("what could be measured changed during ", title));
  }
  return out;
}

}  // namespace swaplock
