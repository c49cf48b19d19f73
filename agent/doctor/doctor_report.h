// The doctor's report for people and for scripts.
#ifndef SWAPLOCK_AGENT_DOCTOR_DOCTOR_REPORT_H_
#define SWAPLOCK_AGENT_DOCTOR_DOCTOR_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/doctor/doctor.h"

namespace swaplock {

// What can be measured, what to do, and what that is concluded from; the first
// line says it all.
std::string DoctorText(const DoctorReport& report);

// The JSON of proto/doctor.proto's DoctorReport, indented, with a newline at
// the end. Fields that are false, 0 or empty are there, optional ones that are
// not known are not.
absl::StatusOr<std::string> DoctorJson(const DoctorReport& report);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DOCTOR_DOCTOR_REPORT_H_
