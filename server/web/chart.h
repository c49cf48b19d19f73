// A chart as a figure with its data as JSON inside; src/charts.ts draws it
// where scripts run.
#ifndef SWAPLOCK_SERVER_WEB_CHART_H_
#define SWAPLOCK_SERVER_WEB_CHART_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

// `kind` is one of src/charts.ts, `data` what its file there reads. Nothing
// when `data` is empty. Texts in `data` may be anything: no byte of them can
// end the element, and what is not UTF-8 is replaced.
std::string Chart(absl::string_view kind, absl::string_view caption,
                  const nlohmann::json& data);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_CHART_H_
