// How pages write numbers, locks and hosts.
#ifndef SWAPLOCK_SERVER_WEB_PAGE_TEXT_H_
#define SWAPLOCK_SERVER_WEB_PAGE_TEXT_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/cell.h"
#include "server/metrics/cell_series.h"
#include "server/web/html.h"

namespace swaplock {

inline constexpr char kNotMeasured[] = "-";
inline constexpr char kNotKnown[] = "not known";

// "12 ms"
std::string TimeText(uint64_t ns);
std::string QuantileText(const Distribution& d, double q);
std::string If(bool measured, const std::string& text);
// "3s ago", "now"
std::string Ago(absl::Time time, absl::Time now);
inline absl::Time UnixNanos(uint64_t ns) {
  return absl::FromUnixNanos(static_cast<int64_t>(ns));
}

// The lock's role; most locks are only ever taken exclusively.
std::string LockOf(const CellKey& key);
// "zram write"
std::string OperationOf(const CellKey& key);
// "lock-free" is a finding; a model that is not known is none.
std::string ModelOf(LockModel model);

// The host's name, leading to its page.
HtmlCell HostCellOf(const std::string& host_id);

inline void Append(std::vector<HtmlCell> more, std::vector<HtmlCell>* row) {
  std::move(more.begin(), more.end(), std::back_inserter(*row));
}

using AllSeries = std::map<SeriesKey, Series>;

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_PAGE_TEXT_H_
