#include "server/web/cell_tables.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

// Waits none of which saw an owner: the lock of this kernel does not tell it.
bool SawOwners(const Cell& cell) {
  return cell.contended == 0 || cell.waits_owner_running > 0 ||
         cell.waits_owner_runnable > 0 || cell.waits_owner_blocked > 0;
}

std::vector<HtmlCell> LockCells(const SeriesKey& key, const Cell& cell,
                                Tier tier) {
  return {key.kernel,
          key.preempt,
          OperationOf(key.cell),
          LockOf(key.cell),
          ModelOf(cell.lock_model),
          key.cell.algorithm,
          If(tier != Tier::kUnspecified, std::string(Name(tier)))};
}

}  // namespace

std::string OperationsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Operations, from entry to exit",
      {"kernel", "preempt", "operation", "lock", "algorithm", "operations",
       "mean", "p99", "longest", "over 1 ms", "over 10 ms", "over 100 ms"},
      {}};
  for (const auto& [key, series] : all) {
    if (!IsOperation(series.cell)) continue;
    const Distribution& d = series.cell.latency;
    const bool any = d.Count() > 0;
    table.rows.push_back(
        {key.kernel, key.preempt, OperationOf(key.cell),
         ModelOf(key.lock_model), key.cell.algorithm, absl::StrCat(d.Count()),
         If(any, TimeText(static_cast<uint64_t>(d.MeanNs()))),
         If(any, QuantileText(d, 0.99)), If(any, TimeText(d.max_ns)),
         absl::StrCat(d.over_1ms), absl::StrCat(d.over_10ms),
         absl::StrCat(d.over_100ms)});
  }
  return table.rows.empty() ? "" : Html(table);
}

std::string WaitsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Waits for locks",
      {"kernel", "preempt", "operation", "lock", "model", "algorithm",
       "measured by", "acquisitions", "contended", "p99", "longest",
       "over 10 ms", "owner runnable off CPU", "inversions"},
      {}};
  for (const auto& [key, series] : all) {
    const Cell& cell = series.cell;
    if (IsOperation(cell)) continue;
    const bool waits = key.wait_tier != Tier::kUnspecified;
    std::vector<HtmlCell> row = LockCells(key, cell, key.wait_tier);
    Append({If(CountsHolds(key.hold_tier), absl::StrCat(cell.acquisitions)),
            If(waits, absl::StrCat(cell.contended)),
            If(waits, QuantileText(cell.wait, 0.99)),
            If(waits, TimeText(cell.wait.max_ns)),
            If(waits, absl::StrCat(cell.wait.over_10ms)),
            If(waits && SawOwners(cell), TimeText(cell.wait_owner_runnable_ns)),
            If(waits && SawOwners(cell), absl::StrCat(cell.inversions))},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

std::string HoldsHtml(const AllSeries& all) {
  HtmlTable table = {
      "Holds of locks",
      {"kernel", "preempt", "operation", "lock", "model", "algorithm",
       "measured by", "holds", "p99", "longest", "on CPU", "runnable off CPU",
       "preempted", "woken", "throttled", "blocked", "unknown", "migrations"},
      {}};
  for (const auto& [key, series] : all) {
    const Cell& cell = series.cell;
    if (IsOperation(cell)) continue;
    const bool holds = CountsHolds(key.hold_tier);
    // Sums of off-CPU time exist for the owner probe too.
    const bool off_cpu = holds || key.hold_tier == Tier::kOwnerProbe;
    const bool split = MeasuresSplit(cell);
    std::vector<HtmlCell> row = LockCells(key, cell, key.hold_tier);
    Append({If(holds, absl::StrCat(cell.hold.Count())),
            If(holds, QuantileText(cell.hold, 0.99)),
            If(holds, TimeText(cell.hold.max_ns)),
            If(holds, TimeText(cell.on_cpu_ns)),
            If(off_cpu, TimeText(cell.runnable.sum_ns)),
            If(split, TimeText(cell.preempted_ns)),
            If(split, TimeText(cell.woken_ns)),
            If(split, TimeText(cell.throttled_ns)),
            If(off_cpu, TimeText(cell.blocked.sum_ns)),
            If(holds, TimeText(cell.unknown_ns)),
            If(split, absl::StrCat(cell.migrations))},
           &row);
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

}  // namespace swaplock
