// A report for programs.
//
// Pure functions: equal recordings give equal bytes.
#ifndef SWAPLOCK_CLI_REPORT_REPORT_EXPORT_H_
#define SWAPLOCK_CLI_REPORT_REPORT_EXPORT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "cli/report/recorded_run.h"

namespace swaplock {

// proto/report.proto as JSON with its field names, with at most `holds` of a
// run's longest holds.
absl::StatusOr<std::string> ReportJson(const Recordings& recordings,
                                       size_t holds);

// A line per run and number (RFC 4180 with line feeds), with a line of titles.
std::string ReportCsv(const Recordings& recordings);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_REPORT_EXPORT_H_
