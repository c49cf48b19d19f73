#include "server/web/page_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/window_table.h"

namespace swaplock {

std::string TimeText(uint64_t ns) {
  if (ns == 0) return "0";
  const double value = static_cast<double>(ns);
  if (value < 1e3) return absl::StrFormat("%d ns", ns);
  if (value < 1e6) return absl::StrFormat("%.3g us", value / 1e3);
  if (value < 1e9) return absl::StrFormat("%.3g ms", value / 1e6);
  return absl::StrFormat("%.3g s", value / 1e9);
}

std::string QuantileText(const Distribution& d, double q) {
  return TimeText(static_cast<uint64_t>(d.QuantileNs(q)));
}

std::string If(bool measured, const std::string& text) {
  return measured ? text : kNotMeasured;
}

std::string Ago(absl::Time time, absl::Time now) {
  const absl::Duration ago = absl::Floor(now - time, absl::Seconds(1));
  if (ago <= absl::ZeroDuration()) return "now";
  return absl::StrCat(absl::FormatDuration(ago), " ago");
}

std::string LockOf(const CellKey& key) {
  return absl::StrCat(Name(key.role),
                      key.mode == Mode::kShared ? " (shared)" : "");
}

std::string OperationOf(const CellKey& key) {
  return absl::StrCat(Name(key.subsystem), " ", Name(key.operation));
}

std::string ModelOf(LockModel model) {
  return model == LockModel::kUnspecified ? kNotKnown : ModelName(model);
}

HtmlCell HostCellOf(const std::string& host_id) {
  HtmlCell cell = host_id;
  cell.link = HostLink(host_id);
  return cell;
}

}  // namespace swaplock
