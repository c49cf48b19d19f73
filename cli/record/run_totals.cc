#include "cli/record/run_totals.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text_table.h"
#include "common/window_table.h"

namespace swaplock {

std::string WithCommas(uint64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

void RunTotals::Add(const Window& window) {
  ++windows_;
  for (const Cell& cell : window.cells) {
    if (IsOperation(cell)) continue;
    if (CountsHolds(cell.hold_tier)) {
      counts_holds_ = true;
      acquisitions_ += cell.acquisitions;
      contended_counted_ += cell.contended;
      if (cell.hold.max_ns > longest_hold_ns_) {
        longest_hold_ns_ = cell.hold.max_ns;
        longest_hold_.clear();
      }
    }
    if (cell.wait_tier != Tier::kUnspecified) {
      counts_waits_ = true;
      contended_ += cell.contended;
      wait_ns_ += cell.wait.sum_ns;
    }
  }
  if (window.top_holds.empty()) return;
  const Hold& top = window.top_holds[0];
  if (top.hold_ns < longest_hold_ns_ || top.cell >= window.cells.size()) return;
  longest_hold_ns_ = top.hold_ns;
  longest_hold_ =
      absl::StrCat(LockName(window.cells[top.cell].key), ", ", HolderName(top));
}

std::string RunTotals::Text(const char* between, bool more) const {
  std::string text;
  const auto part = [&](const std::string& words) {
    absl::StrAppend(&text, text.empty() ? "" : between, words);
  };
  if (counts_holds_) {
    part(absl::StrCat(WithCommas(acquisitions_), " acquisitions"));
  }
  if (counts_waits_) {
    std::string words = absl::StrCat(WithCommas(contended_), " contended");
    // A share of what was counted; locks without acquisitions have none.
    if (more && acquisitions_ > 0 && contended_ == contended_counted_) {
      absl::StrAppendFormat(&words, " (%.2g%%)",
                            100.0 * static_cast<double>(contended_) /
                                static_cast<double>(acquisitions_));
    }
    part(absl::StrCat(words, more ? ", waited " : ", ", FormatNs(wait_ns_)));
  }
  if (counts_holds_) {
    part(absl::StrCat("longest hold ", FormatNs(longest_hold_ns_),
                      more && !longest_hold_.empty()
                          ? absl::StrCat(" (", longest_hold_, ")")
                          : ""));
  } else {
    part("holds not measured");
  }
  return Printable(text);
}

std::string RunTotals::Line(absl::Duration elapsed) const {
  const std::string seconds =
      absl::StrFormat("%.1fs", absl::ToDoubleSeconds(elapsed));
  return windows_ == 0 ? seconds
                       : absl::StrCat(seconds, "  ", Text("  ", false));
}

std::string RunTotals::Summary() const { return Text(", ", true); }

}  // namespace swaplock
