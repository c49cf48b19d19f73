#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/web/html.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"

namespace swaplock {
namespace {

struct ProbeCounts {
  uint64_t attached = 0;
  uint64_t refused = 0;
  std::set<std::string> reasons;
};

// By probe and kernel.
std::string ProbesHtml(const FleetSnapshot& snapshot) {
  std::map<std::pair<std::string, std::string>, ProbeCounts> counts;
  for (const auto& [id, host] : snapshot.state.hosts) {
    for (const Probe& probe : host.coverage.probes) {
      if (probe.state != ProbeState::kAttached &&
          probe.state != ProbeState::kRefused) {
        continue;
      }
      ProbeCounts& count =
          counts[{host.environment.kernel_release, probe.name}];
      if (probe.state == ProbeState::kAttached) {
        ++count.attached;
      } else {
        ++count.refused;
        count.reasons.insert(probe.reason);
      }
    }
  }
  HtmlTable table = {
      "Probes",
      {"kernel", "probe", "hosts attached", "hosts refused", "why refused"},
      {}};
  table.most_rows = 500;
  for (const auto& [key, count] : counts) {
    std::string reasons;
    for (const std::string& reason : count.reasons) {
      absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", reason);
    }
    table.rows.push_back({key.first, key.second, absl::StrCat(count.attached),
                          absl::StrCat(count.refused), reasons});
  }
  return Html(table);
}

// Which tier measured each lock on each kernel.
std::string TiersHtml(const AllSeries& all) {
  HtmlTable table = {"What is measured, and how",
                     {"kernel", "preempt", "operation", "lock", "model",
                      "holds by", "waits by", "operations by"},
                     {}};
  table.most_rows = 500;
  std::set<std::vector<std::string>> rows;  // algorithms are not told apart
  for (const auto& [key, series] : all) {
    const auto tier = [](Tier value) {
      return If(value != Tier::kUnspecified, std::string(Name(value)));
    };
    const bool operation = IsOperation(series.cell);
    rows.insert({key.kernel, key.preempt, OperationOf(key.cell),
                 operation ? "" : LockOf(key.cell),
                 ModelOf(operation ? key.lock_model : series.cell.lock_model),
                 operation ? "" : tier(key.hold_tier),
                 operation ? "" : tier(key.wait_tier),
                 operation ? tier(key.latency_tier) : ""});
  }
  for (const std::vector<std::string>& row : rows) {
    table.rows.emplace_back(row.begin(), row.end());
  }
  return Html(table);
}

std::string NotMeasuredHtml(const FleetSnapshot& snapshot) {
  std::map<std::string, uint64_t> hosts;
  for (const auto& [id, host] : snapshot.state.hosts) {
    for (const std::string& sentence : host.coverage.not_measured) {
      ++hosts[sentence];
    }
  }
  HtmlTable table = {"Not measured", {"hosts", "what, and why"}, {}};
  table.if_empty = "Nothing: every host measures all that it could.";
  for (const auto& [sentence, count] : hosts) {
    table.rows.push_back({absl::StrCat(count), sentence});
  }
  return Html(table);
}

std::string LossesHtml(const FleetState& state) {
  HtmlTable table = {
      "Events that could not be counted", {"reason", "events"}, {}, "None."};
  for (const auto& [reason, events] : state.losses) {
    if (events == 0) continue;
    table.rows.push_back({std::string(Name(reason)), absl::StrCat(events)});
  }
  return Html(table);
}

}  // namespace

std::string CoveragePage(const FleetSnapshot& snapshot, absl::Time now) {
  const AllSeries all =
      SeriesOf(snapshot.state, KernelLabels(snapshot.state), now);
  return absl::StrCat(HtmlHead("Coverage", "/coverage"),
                      NotMeasuredHtml(snapshot), LossesHtml(snapshot.state),
                      TiersHtml(all), ProbesHtml(snapshot), HtmlEnd());
}

}  // namespace swaplock
