// What is wrong on a host, as far as it bears on measuring, and what to do
// about it. Each problem is one sentence and has one remedy; a remedy that
// would not help here is not named, and a cause that is not known is not
// guessed.
#ifndef SWAPLOCK_AGENT_DOCTOR_DOCTOR_DIAGNOSIS_H_
#define SWAPLOCK_AGENT_DOCTOR_DOCTOR_DIAGNOSIS_H_

#include <vector>

#include "agent/doctor/doctor.h"

namespace swaplock {

// Those that cost holds or waits first. `locks` are the report's.
std::vector<Problem> Diagnose(const DoctorInput& input,
                              const std::vector<LockReport>& locks);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DOCTOR_DOCTOR_DIAGNOSIS_H_
