// The lock catalogue: which functions of which kernel generation take and
// release the locks of the swap-compression path, what kind of lock they are,
// and which BPF programs measure them. MakePlan turns it, what the running
// kernel calls things (kernel_symbols), and what the kernel lets be attached
// into a plan for this host. Pure: the same input gives the same plan, and
// symbol lists recorded on other kernels are its tests.
//
// To support a new generation, add a candidate function to a row of
// hook_rows.cc, the name to kernel_symbols.cc, and a recorded list to
// testdata/.
#ifndef SWAPLOCK_AGENT_CAPTURE_LOCK_CATALOG_H_
#define SWAPLOCK_AGENT_CAPTURE_LOCK_CATALOG_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "agent/bpf/hold_record.h"
#include "agent/capture/kernel_symbols.h"
#include "agent/capture/plan.h"

namespace swaplock {

// Asks the kernel whether a program of this kind may be attached to `target`.
// Its message is shown to people: why not.
using TryAttach =
    std::function<absl::Status(ProbeKind kind, const std::string& target)>;

// What a kernel's zcomp_dstrm has to tell a holder that is alone from several.
struct SharedBy {
  sl_shared_by how = SL_SHARED_NEVER;
  uint32_t offset_bytes = 0;
};
SharedBy ReadingStreamSharedBy(const KernelSymbols& symbols);

// The plan for a kernel. `try_attach` is asked at most once per probe, and no
// more about function hooks once the kernel has refused one for lack of
// permission: a lockdown refuses all of them.
Plan MakePlan(const KernelSymbols& symbols, const TryAttach& try_attach);

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_CAPTURE_LOCK_CATALOG_H_
