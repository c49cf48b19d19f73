// What the doctor asks the host: facts from /proc and /sys, what the kernel
// lets this process attach and load, and what reading the clock costs. Nothing
// stays attached and nothing is changed.
#ifndef SWAPLOCK_AGENT_DOCTOR_DOCTOR_READING_H_
#define SWAPLOCK_AGENT_DOCTOR_DOCTOR_READING_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "agent/doctor/doctor.h"
#include "agent/host/host_facts.h"

namespace swaplock {

// The facts that are files. `root` stands before every path: "" or a directory
// of a test. The user, limits and uname are this process's.
HostFacts ReadHostFacts(absl::string_view root = "");

// "CAP_BPF" ... of those that matter here, from /proc/self/status.
std::set<std::string> EffectiveCapabilities(absl::string_view status);

// "none", "integrity", "confidentiality" from securityfs's lockdown; "" when
// the text is something else.
std::string LockdownMode(absl::string_view text);

// Everything, from the running kernel. Takes half a second of CPU, most of it
// reading BTF, trying probes and loading programs. Not thread-safe: it silences
// libbpf.
DoctorInput ReadDoctorInput();

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DOCTOR_DOCTOR_READING_H_
