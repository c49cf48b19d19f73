// Asks the running kernel whether it takes a program: loads one that returns 0
// and attaches it for a moment. Neither configuration nor BTF can tell: a
// function in BTF may be inlined under another name or marked notrace, and a
// locked-down kernel refuses trampolines that its configuration promises.
//
// Needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. Not thread-safe.
#ifndef SWAPLOCK_AGENT_CAPTURE_PROBE_TRIAL_H_
#define SWAPLOCK_AGENT_CAPTURE_PROBE_TRIAL_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/lock_catalog.h"

namespace swaplock {

class ProbeTrial {
 public:
  // `symbols` must outlive the trial.
  explicit ProbeTrial(const KernelSymbols& symbols);
  ~ProbeTrial();
  ProbeTrial(const ProbeTrial&) = delete;
  ProbeTrial& operator=(const ProbeTrial&) = delete;

  // OK, or PermissionDenied when the kernel refuses programs of this kind, or
  // FailedPrecondition for this target alone. The message names both.
  absl::Status Try(ProbeKind kind, const std::string& target);

 private:
  absl::Status TryKprobe(const std::string& target);
  // The descriptor of a module's BTF, or 0 for vmlinux, or -1.
  int BtfDescriptor(const std::string& module);

  const KernelSymbols& symbols_;
  std::map<std::string, int> btf_descriptors_;
};

// Why the kernel says EPERM, as far as one can tell from outside: "kernel
// lockdown is [integrity]", "this process lacks CAP_BPF", or "".
std::string WhyNotPermitted();

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_PROBE_TRIAL_H_
