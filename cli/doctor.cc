#include "agent/doctor/doctor.h"

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/statusor.h"
#include "agent/doctor/doctor_reading.h"
#include "agent/doctor/doctor_report.h"
#include "cli/subcommands.h"

namespace swaplock {
namespace {

constexpr int kExitIoError = 74;  // as in sysexits.h; 1 means something else

}  // namespace

int Doctor(const Words& words) {
  if (!words.words.empty() || words.dashes) {
    return UsageError("doctor", "it takes flags only");
  }
  const DoctorReport report = MakeDoctorReport(ReadDoctorInput());
  const absl::StatusOr<std::string> text = absl::GetFlag(FLAGS_output) == "json"
                                               ? DoctorJson(report)
                                               : DoctorText(report);
  if (!text.ok()) {
    std::fprintf(stderr, "swaplock: %s\n", text.status().ToString().c_str());
    return kExitIoError;
  }
  std::fputs(text->c_str(), stdout);
  if (std::fflush(stdout) != 0) return kExitIoError;
  return report.ExitStatus();
}

}  // namespace swaplock
