#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/web/cell_tables.h"
#include "server/web/chart.h"
#include "server/web/html.h"
#include "server/web/http_query.h"
#include "server/web/page_text.h"
#include "server/web/pages.h"

namespace swaplock {
namespace {

using Json = nlohmann::json;

// A power of two: wide enough to be seen.
constexpr int kBucketsPerCell = 8;

void AddBuckets(const std::string& group, const Distribution& d, Json* data) {
  const uint64_t all = d.Count();
  if (all == 0) return;
  const int first = Histogram::kUnderflowIndex;
  for (int i = first; i <= Histogram::kOverflowIndex; i += kBucketsPerCell) {
    const int last =
        std::min(i + kBucketsPerCell - 1, Histogram::kOverflowIndex);
    uint64_t count = 0;
    for (int j = i; j <= last; ++j) count += d.buckets.bucket(j);
    if (count == 0) continue;
    // The last one has no upper edge; the longest is the best there is.
    const double to = last == Histogram::kOverflowIndex
                          ? std::max(static_cast<double>(d.max_ns),
                                     Histogram::LowerBoundNs(last))
                          : Histogram::UpperBoundNs(last);
    data->push_back(
        {{"group", group},
         {"from_ns", Histogram::LowerBoundNs(i)},
         {"to_ns", to},
         {"count", count},
         {"share", static_cast<double>(count) / static_cast<double>(all)}});
  }
}

std::string HeatMap(const char* caption,
                    const std::map<std::string, Distribution>& by_kernel) {
  Json data = Json::array();
  for (const auto& [group, distribution] : by_kernel) {
    AddBuckets(group, distribution, &data);
  }
  return Chart("heat", caption, data);
}

// The operation with most acquisitions or whole operations.
std::string MostOf(const AllSeries& all) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, series] : all) {
    counts[OperationOf(key.cell)] +=
        std::max(series.cell.acquisitions, series.cell.latency.Count()) +
        series.cell.contended;
  }
  std::string most;
  for (const auto& [operation, count] : counts) {
    if (most.empty() || count > counts[most]) most = operation;
  }
  return most;
}

std::string Choice(const AllSeries& all, const std::string& chosen) {
  std::set<std::string> operations;
  for (const auto& [key, series] : all) {
    operations.insert(OperationOf(key.cell));
  }
  std::string out = "<nav aria-label=\"Operations\">";
  for (const std::string& operation : operations) {
    absl::StrAppend(&out, "<a href=\"/kernels?op=", EscapeQuery(operation),
                    "\"", operation == chosen ? " aria-current=\"true\"" : "",
                    ">", EscapeHtml(operation), "</a>");
  }
  return absl::StrCat(out, "</nav>\n");
}

}  // namespace

std::string KernelsPage(const FleetSnapshot& snapshot, absl::Time now,
                        const PageQuery& query) {
  const AllSeries all =
      SeriesOf(snapshot.state, KernelLabels(snapshot.state), now);
  std::string operation = ValueOf(query, "op");
  if (operation.empty()) operation = MostOf(all);
  AllSeries chosen;
  std::map<std::string, Distribution> waits, holds, latencies;
  for (const auto& [key, series] : all) {
    if (OperationOf(key.cell) != operation) continue;
    chosen.insert({key, series});
    const std::string kernel = absl::StrCat(key.kernel, " ", key.preempt);
    const Cell& cell = series.cell;
    if (IsOperation(cell)) {
      latencies[kernel].Merge(cell.latency);
    } else {
      waits[kernel].Merge(cell.wait);
      if (CountsHolds(key.hold_tier)) holds[kernel].Merge(cell.hold);
    }
  }
  return absl::StrCat(
      HtmlHead(
          operation.empty() ? "Kernels" : absl::StrCat("Kernels: ", operation),
          "/kernels"),
      Choice(all, operation),
      HtmlNote("All that was counted on each kernel, over all hosts: to look "
               "at. Which kernel is worse, hosts decide: see the verdicts."),
      "<div class=\"pair\">\n",
      HeatMap("How long operations took, entry to exit", latencies),
      HeatMap("How long contended acquisitions waited", waits),
      HeatMap("How long locks were held", holds), "</div>\n",
      OperationsHtml(chosen), WaitsHtml(chosen), HoldsHtml(chosen), HtmlEnd());
}

}  // namespace swaplock
