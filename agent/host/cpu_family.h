// Which kind of CPU a host has, as /proc/cpuinfo tells: hosts of another kind
// run the same kernel at another speed, so verdicts compare within one.
#ifndef SWAPLOCK_AGENT_HOST_CPU_FAMILY_H_
#define SWAPLOCK_AGENT_HOST_CPU_FAMILY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace swaplock {

// x86: "GenuineIntel 6 207" (vendor_id, cpu family, model;
// arch/x86/kernel/cpu/proc.c). arm64: "0x41 0xd05+0xd0a", implementer and parts
// of all CPUs (arch/arm64/kernel/cpuinfo.c). Else the line "cpu", as on
// powerpc. Empty: not known.
std::string ReadCpuFamily(absl::string_view root = "");

// The same of the text of /proc/cpuinfo.
std::string CpuFamilyOf(absl::string_view cpuinfo);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_HOST_CPU_FAMILY_H_
