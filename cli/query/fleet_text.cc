#include "cli/query/fleet_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text_table.h"
#include "common/window_table.h"

namespace swaplock {
namespace {

// What fits a screen; the server's API has the rest.
constexpr size_t kHolds = 10;
constexpr int kHosts = 10;
constexpr size_t kCoverages = 4;

std::string Plural(uint64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string CohortText(const v1::Cohort& cohort, size_t max_width) {
  std::string text = Printable(
      absl::StrCat("kernel ", cohort.kernel_release(),
                   cohort.preempt().empty() ? "" : ", preempt ",
                   cohort.preempt(), ": ", Plural(cohort.hosts(), "host"), ", ",
                   Plural(cohort.windows(), "window")));
  absl::StrAppend(&text, "\n");
  std::vector<Cell> cells;
  for (const v1::Cell& message : cohort.cells()) {
    absl::StatusOr<Cell> cell = FromProto(message);
    if (cell.ok()) {
      cells.push_back(*std::move(cell));
    } else {
      absl::StrAppend(
          &text, "  not shown: ", Printable(cell.status().message()), "\n");
    }
  }
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.key < b.key; });
  const std::string locks = CellTable(cells, "  ", max_width);
  absl::StrAppend(
      &text, locks.empty() ? "  no lock was taken or waited for\n" : locks);
  if (const std::string operations = OperationTable(cells, "  ", max_width);
      !operations.empty()) {
    absl::StrAppend(&text, "  operations, from entry to exit\n", operations);
  }
  return text;
}

// The cell that a hold belongs to, for its tier; cohorts merge devices.
Cell CellOf(const v1::TopHold& top, const v1::Fleet& fleet) {
  v1::Cell found;
  v1::CellKey wanted = top.key();
  wanted.clear_device();
  for (const v1::Cohort& cohort : fleet.cohorts()) {
    if (cohort.kernel_release() != top.kernel_release()) continue;
    for (const v1::Cell& cell : cohort.cells()) {
      if (cell.key().SerializeAsString() == wanted.SerializeAsString()) {
        found.set_hold_tier(cell.hold_tier());
      }
    }
  }
  *found.mutable_key() = top.key();
  absl::StatusOr<Cell> cell = FromProto(found);
  return cell.ok() ? *std::move(cell) : Cell();
}

std::string Ago(uint64_t unix_ns, absl::Time now) {
  const absl::Duration ago =
      absl::Floor(now - absl::FromUnixNanos(static_cast<int64_t>(unix_ns)),
                  absl::Seconds(1));
  if (ago <= absl::ZeroDuration()) return "now";
  return absl::StrCat(absl::FormatDuration(ago), " ago");
}

std::string InProgressText(const v1::Fleet& fleet, absl::Time now,
                           size_t max_width) {
  std::vector<Hold> holds;
  std::vector<Cell> cells;
  std::vector<std::string> origins;
  for (const v1::HoldInProgress& held : fleet.holds_in_progress()) {
    if (holds.size() == kHolds) break;
    v1::Hold message = held.hold();
    message.set_cell(static_cast<uint32_t>(cells.size()));
    v1::Cell cell_message;
    *cell_message.mutable_key() = held.key();
    cell_message.set_lock_model(held.lock_model());
    absl::StatusOr<Cell> cell = FromProto(cell_message);
    absl::StatusOr<Hold> hold = FromProto(message);
    if (!cell.ok() || !hold.ok()) continue;
    cell->hold_tier = static_cast<Tier>(held.hold_tier());
    holds.push_back(*std::move(hold));
    cells.push_back(*std::move(cell));
    origins.push_back(
        absl::StrCat(held.host_id(), " ", Ago(held.as_of_unix_ns(), now)));
  }
  if (holds.empty()) return "";
  std::string text = absl::StrCat(
      "holds in progress\n", HoldTable(holds, cells, "  ", origins, max_width));
  const int more = fleet.holds_in_progress_size() - static_cast<int>(kHolds);
  if (more > 0) absl::StrAppend(&text, "  and ", more, " more\n");
  return text;
}

std::string TopHoldsText(const v1::Fleet& fleet,
                         const FleetTextOptions& options) {
  std::vector<Hold> holds;
  std::vector<Cell> cells;
  std::vector<std::string> origins;
  for (const v1::TopHold& top : fleet.top_holds()) {
    if (holds.size() == kHolds) break;
    v1::Hold message = top.hold();
    message.set_cell(static_cast<uint32_t>(cells.size()));
    absl::StatusOr<Hold> hold = FromProto(message);
    if (!hold.ok()) continue;
    holds.push_back(*std::move(hold));
    cells.push_back(CellOf(top, fleet));
    origins.push_back(absl::StrCat(top.host_id(), " ", top.kernel_release()));
  }
  if (holds.empty()) return "";
  std::string text =
      absl::StrCat("longest holds of the last day\n",
                   HoldTable(holds, cells, "  ", origins, options.max_width));
  for (size_t i = 0; i < holds.size(); ++i) {
    if (i > 0 && !options.explain) break;
    const std::string why =
        HoldExplanation(holds[i], "    ", options.max_width);
    if (why.empty()) continue;
    absl::StrAppend(
        &text,
        Printable(absl::StrCat(
            i == 0 ? "  the longest, "
                   : absl::StrCat("  ", FormatNs(holds[i].hold_ns), ", "),
            HolderName(holds[i]), options.explain ? " on " : "",
            options.explain ? origins[i] : "")),
        "\n", why);
  }
  return text;
}

std::string HostsText(const v1::Fleet& fleet, absl::Time now,
                      size_t max_width) {
  if (fleet.hosts_size() == 0) return "";
  TextTable table;
  table.AddColumn("host", TextTable::Align::kLeft);
  table.AddColumn("kernel", TextTable::Align::kLeft, 1);
  table.AddColumn("windows", TextTable::Align::kRight, 2);
  table.AddColumn("seen", TextTable::Align::kRight);
  table.AddColumn("state", TextTable::Align::kLeft);
  for (int i = 0; i < std::min(fleet.hosts_size(), kHosts); ++i) {
    const v1::HostState& host = fleet.hosts(i);
    table.AddRow({host.host_id(), host.kernel_release(),
                  absl::StrCat(host.windows()),
                  Ago(host.last_seen_unix_ns(), now),
                  host.connected() ? "connected" : "away"});
  }
  std::string text = table.Render("  ", max_width);
  if (fleet.hosts_size() > kHosts) {
    absl::StrAppend(&text, "  and ", fleet.hosts_size() - kHosts, " more\n");
  }
  return absl::StrCat("hosts\n", text);
}

std::string CoveragesText(const v1::Fleet& fleet) {
  std::map<std::string, uint64_t> hosts_by_coverage;
  for (const v1::HostState& host : fleet.hosts()) {
    const std::string coverage = CoverageText(FromProto(host.coverage()), "  ");
    if (!coverage.empty()) ++hosts_by_coverage[coverage];
  }
  std::vector<std::pair<uint64_t, std::string>> most;
  most.reserve(hosts_by_coverage.size());
  for (const auto& [coverage, hosts] : hosts_by_coverage) {
    most.emplace_back(hosts, coverage);
  }
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  std::string text;
  for (size_t i = 0; i < std::min(most.size(), kCoverages); ++i) {
    absl::StrAppend(&text, "measured on ", Plural(most[i].first, "host"), "\n",
                    most[i].second);
  }
  if (most.size() > kCoverages) {
    absl::StrAppend(&text, "and ", most.size() - kCoverages,
                    " more combinations of probes\n");
  }
  return text;
}

}  // namespace

std::string FleetText(const v1::Fleet& fleet, absl::Time now,
                      const FleetTextOptions& options) {
  const auto connected =
      std::count_if(fleet.hosts().begin(), fleet.hosts().end(),
                    [](const v1::HostState& host) { return host.connected(); });
  std::vector<std::string> parts = {
      absl::StrCat(Plural(static_cast<uint64_t>(fleet.hosts_size()), "host"),
                   ", ", connected, " connected\n")};
  for (const v1::Cohort& cohort : fleet.cohorts()) {
    parts.push_back(CohortText(cohort, options.max_width));
  }
  for (std::string part :
       {InProgressText(fleet, now, options.max_width),
        TopHoldsText(fleet, options), HostsText(fleet, now, options.max_width),
        CoveragesText(fleet)}) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return absl::StrJoin(parts, "\n");
}

}  // namespace swaplock
